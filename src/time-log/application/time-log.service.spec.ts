import { beforeEach, describe, expect, it } from '@jest/globals';
import { expectedValues } from '../../../test/support/expected-logs.js';
import { InMemoryTimeLogRepository } from '../../../libs/host-kit/src/testing/in-memory-time-log.repository.js';
import { DomainError } from '../../../libs/errors/src/index.js';
import { PageRequest } from '../domain/page-request.js';
import { Period } from '../domain/period.js';
import { ALL_PROJECTS } from '../domain/project-access.js';
import { TimeLogIds } from '../domain/time-log-ids.js';
import { TimeLogService } from './time-log.service.js';

const values = {
  projectId: 'AAAAAAAA-0000-0000-0000-000000000001',
  duration: 2,
  description: 'work',
  date: '2026-01-31',
};
const everything = { period: Period.of() };

/** Increasing ids, like the real ones. */
class CountingIds extends TimeLogIds {
  count = 0;

  override next(): string {
    return `019c1370-4e1b-7000-8000-${String(++this.count).padStart(12, '0')}`;
  }
}

class FailingRepository extends InMemoryTimeLogRepository {
  override async add(): Promise<void> {
    throw new DomainError('SERVICE_UNAVAILABLE', 'away');
  }
}

describe('TimeLogService', () => {
  let repository: InMemoryTimeLogRepository;
  let ids: CountingIds;
  let service: TimeLogService;

  beforeEach(() => {
    repository = new InMemoryTimeLogRepository();
    ids = new CountingIds();
    service = new TimeLogService(repository, ids);
  });

  it('asks no repository for a bound caller whose methods cannot obey the access', async () => {
    class Unbound extends InMemoryTimeLogRepository {
      override async get(id: string): Promise<undefined> {
        await super.get(id, ALL_PROJECTS);
      }
    }
    service = new TimeLogService(new Unbound(), ids);
    const { id } = await service.record(values);
    const bound = { access: [] };
    for (const call of [
      service.list(everything, PageRequest.of(1, 1), bound),
      service.items(everything, PageRequest.of(1, 1), bound),
      service.get(id, bound),
      service.delete(id, bound),
    ])
      await expect(call).rejects.toThrow('Unbound.get must take the access of callers, and obey it');
    await service.delete(id);
  });

  it('records a log under a new id and returns what it stored', async () => {
    const log = await service.record(values);
    expect(log).toEqual({
      ...expectedValues(values),
      id: '019c1370-4e1b-7000-8000-000000000001',
      projectId: 'aaaaaaaa-0000-0000-0000-000000000001',
    });
    expect(await service.list(everything, PageRequest.of(1, 50))).toEqual({ logs: [log], total: 1 });
  });

  it.each([undefined, null, 'work', 7])('rejects %p instead of values', async (input) => {
    const error = { code: 'VALIDATION_ERROR', message: 'the values of a time log must be an object' };
    await expect(service.record(input as never)).rejects.toMatchObject(error);
    await expect(service.correct('', input as never)).rejects.toMatchObject(error);
  });

  it.each([undefined, '', ' a', 'é', 'a'.repeat(256), 7])('rejects %p instead of a key', async (text) => {
    await expect(
      service.recordOnce(values, { caller: 'Ada', text } as { caller: string; text: string }),
    ).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: 'Idempotency-Key must be 1 to 255 printable ASCII characters',
    });
    expect(await service.list(everything, PageRequest.of(1, 50))).toMatchObject({ total: 0 });
  });

  it.each([undefined, null, 'a', { text: 'a' }, { caller: '', text: 'a' }])(
    'rejects the key %p, which has no owner',
    async (key) => {
      await expect(service.recordOnce(values, key as never)).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        message: 'Idempotency-Key is only for callers with an id',
      });
    },
  );

  it('corrects all values of a log, and keeps its id', async () => {
    const { id } = await service.record(values);
    const correction = { ...values, duration: 1, description: undefined };
    const corrected = await service.correct(id.toUpperCase(), correction);
    expect(corrected).toEqual({ ...expectedValues({ ...correction, description: '' }), id });
    expect(await service.get(id)).toEqual(corrected);
  });

  it('neither records nor corrects invalid values', async () => {
    const log = await service.record(values);
    const error = { code: 'VALIDATION_ERROR' };
    await expect(service.correct(log.id, { ...values, duration: 0 })).rejects.toMatchObject(error);
    await expect(service.record({ ...values, duration: 0 })).rejects.toMatchObject(error);
    expect(await service.list(everything, PageRequest.of(1, 50))).toEqual({ logs: [log], total: 1 });
  });

  it('deletes a log, and neither corrects nor deletes a missing one', async () => {
    const { id } = await service.record(values);
    const notFound = { code: 'NOT_FOUND', message: 'there is no time log with this id' };
    await service.delete(id.toUpperCase());
    await expect(service.get(id)).rejects.toMatchObject(notFound);
    await expect(service.delete(id)).rejects.toMatchObject(notFound);
    await expect(service.correct(id, values)).rejects.toMatchObject(notFound);
    expect((await service.list(everything, PageRequest.of(1, 50))).total).toBe(0);
  });

  it('gets a log by its id in upper or lower case', async () => {
    const log = await service.record(values);
    expect(await service.get(log.id.toUpperCase())).toEqual(log);
  });

  it('records values that an object has by getters', async () => {
    class Entry {
      get projectId() {
        return values.projectId;
      }
      get duration() {
        return values.duration;
      }
      get date() {
        return values.date;
      }
    }
    expect(await service.record(new Entry())).toMatchObject({ duration: 2, date: values.date });
  });

  it('records equal values as separate logs', async () => {
    const [first, second] = [await service.record(values), await service.record(values)];
    expect(first.id).not.toBe(second.id);
    expect((await service.list(everything, PageRequest.of(1, 50))).total).toBe(2);
  });

  it('rejects if the log could not be stored', async () => {
    service = new TimeLogService(new FailingRepository(), ids);
    await expect(service.record(values)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('lists a page of the matching logs', async () => {
    for (const date of ['2026-01-01', '2026-01-02', '2026-01-03']) await service.record({ ...values, date });
    const filter = { projectIds: [values.projectId.toLowerCase()], period: Period.of('2026-01-02') };
    const { logs, total } = await service.list(filter, PageRequest.of(2, 1));
    expect([logs.map(({ date }) => date), total]).toEqual([['2026-01-02'], 2]);
  });
});
