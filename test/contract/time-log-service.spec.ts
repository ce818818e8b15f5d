import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  entityTagOf,
  normalizedValues,
  Period,
  TimeLog,
  AttributeRules,
  TimeLogIds,
  TimeLogService,
  type TimeLogValues,
  type TypeOrmTimeLogRepository,
} from '../../src/time-log/index.js';
import { ANY_ATTRIBUTES, useStore } from '../support/storage.js';

const values = {
  projectId: 'AAAAAAAA-0000-0000-0000-000000000001',
  duration: 2,
  description: 'work',
  date: '2026-01-31',
};
const everything = { period: Period.of() };
const OTHER = 'bbbbbbbb-0000-0000-0000-000000000001';

/** Increasing ids. */
class CountingIds extends TimeLogIds {
  count = 0;

  override next(): string {
    return `019c1370-4e1b-7000-8000-${String(++this.count).padStart(12, '0')}`;
  }
}

describe('TimeLogService', () => {
  /** It stores attributes, of which the service knows nothing. */
  const store = useStore(ANY_ATTRIBUTES);
  let repository: TypeOrmTimeLogRepository;
  let ids: CountingIds;
  let service: TimeLogService;

  beforeEach(async () => {
    ({ repository } = store);
    await store.dataSource.query('truncate time_logs, time_log_keys');
    ids = new CountingIds();
    service = new TimeLogService(repository, ids);
  });

  it.each([2 ** 53, -Infinity, NaN])('takes no access that is bound to the number %d', async (level) => {
    const filters = new Map([['level', 'number'] as const]);
    const attributes = Object.assign(new AttributeRules(), { filters });
    const filtered = new TimeLogService(repository, ids, undefined, attributes);
    await expect(filtered.list({}, {}, { caller: { attributes: { level } } })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
  });

  it.each(['projects', 'attributes'])(
    'fails for a caller whose %s are null, as databases return them',
    async (name) => {
      await service.record(values);
      const caller = { [name]: null };
      await expect(service.list({}, {}, { caller })).rejects.toThrow('null');
      await expect(service.record(values, { caller })).rejects.toThrow('null');
    },
  );

  it('iterates over all logs, or project by project, newest date first', async () => {
    const [one, other] = [values.projectId.toLowerCase(), OTHER];
    const added = ['2026-01-01', '2026-01-03', '2026-01-02'].flatMap((date) =>
      [one, other].map((projectId) => ({ ...values, projectId, date })),
    );
    await service.recordAll(added);
    const read = async (...query: Parameters<TimeLogService['iterate']>) => {
      const found: string[] = [];
      for await (const { projectId, date } of service.iterate(...query))
        found.push(projectId + date.slice(-2));
      return found;
    };
    const days = (project: string) => ['03', '02', '01'].map((day) => project + day);
    expect(await read()).toEqual(['03', '02', '01'].flatMap((day) => [other + day, one + day]));
    expect(await read({ ...everything, projectIds: [other, one] })).toEqual([...days(other), ...days(one)]);
    expect(await read(everything, { caller: { projects: [one, other, one] } })).toEqual([
      ...days(one),
      ...days(other),
    ]);
    expect(await read({ projectIds: [one], period: Period.of('2026-01-02') })).toEqual(days(one).slice(0, 2));
    expect(await read(everything, { caller: { projects: [] } })).toEqual([]);
    await expect(
      read({ ...everything, projectIds: [one] }, { caller: { projects: [other] } }),
    ).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
  });

  it('iterates over parts of 1000 logs, and reads none after the last one that is used', async () => {
    const after = jest.spyOn(repository, 'after');
    await service.recordAll(Array.from({ length: 2001 }, () => values));
    const ids = new Set<string>();
    for await (const { id } of service.iterate()) ids.add(id);
    expect([ids.size, after.mock.calls.length]).toEqual([2001, 3]);
    for await (const { id } of service.iterate()) if (ids.has(id)) break;
    expect(after).toHaveBeenCalledTimes(4);
  });

  it('checks the attributes that a patch changes, and removes those that it leaves out', async () => {
    const attributes = { ticket: 'OPS-1' };
    const log = TimeLog.of({ ...values, attributes }, ids.next());
    await repository.record([log]);
    const patch = (change: (stored: TimeLog) => TimeLogValues) => service.patch(log.id, change);
    const patched = await patch((stored) => ({ ...normalizedValues(stored), duration: 3 }));
    expect(patched).toEqual(TimeLog.of({ ...values, attributes, duration: 3 }, log.id));
    const unchecked = patch((stored) => ({ ...normalizedValues(stored), attributes: { ...attributes } }));
    await expect(unchecked).rejects.toThrow('unknown field: attributes');
    expect(await patch(() => values)).toEqual(TimeLog.of(values, log.id));
  });

  it.each([
    [1, undefined, { duration: 101 }],
    [5, undefined, { duration: 501 }],
    [6, undefined, { code: 'SERVICE_UNAVAILABLE' }],
    [1, '"a"', { code: 'PRECONDITION_FAILED' }],
  ])('patches a log that changes %i times meanwhile, with If-Match %p: %p', async (times, tag, outcome) => {
    const log = await service.record(values);
    let calls = 0;
    const change = async (stored: TimeLog) => {
      if (calls++ < times) await service.correct(log.id, { ...values, duration: 100 * calls });
      return { ...normalizedValues(stored), duration: stored.duration + 1 };
    };
    const patched = service.patch(log.id, change, {
      ifMatch: tag === undefined ? tag : [tag, entityTagOf(log)],
    });
    expect(await patched.catch((error: unknown) => error)).toMatchObject(outcome);
  });
});
