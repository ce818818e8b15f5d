import { randomUUID } from 'node:crypto';
import { expect, it, jest } from '@jest/globals';
import { TimeLog } from '../../time-log/domain/time-log.js';
import { type FeedPage, FeedRepository } from '../domain/feed.repository.js';
import { type FeedCursor, parseEventId, TimeLogEvent } from '../domain/time-log-event.js';
import { FeedService } from './feed.service.js';

const newLog = () =>
  TimeLog.record({ projectId: randomUUID(), duration: 1, date: '2026-01-31', description: '' }, randomUUID());

/** The creates of some logs, at the positions 1, 2, … */
class Creates extends FeedRepository {
  private readonly events: readonly TimeLogEvent[];

  constructor(...logs: TimeLog[]) {
    super();
    this.events = logs.map((log, index) => new TimeLogEvent(String(index + 1), log));
  }

  override async eventsAfter(
    cursor: FeedCursor | undefined,
    limit: number,
  ): Promise<readonly TimeLogEvent[]> {
    return this.events.slice(Number(cursor?.position ?? 0)).slice(0, limit);
  }

  override async eventsOfProjects(
    projectIds: readonly string[],
    cursor: string | undefined,
    limit: number,
  ): Promise<FeedPage> {
    const following = await this.eventsAfter(
      cursor === undefined ? undefined : parseEventId(cursor),
      Infinity,
    );
    const events = following.filter(({ log }) => projectIds.includes(log.projectId)).slice(0, limit);
    const isLast = events.length < limit;
    const end = `${this.events.length}-ffffffff-ffff-ffff-ffff-ffffffffffff`;
    return { events, next: isLast ? end : events.at(-1)!.id, isLast };
  }

  override backlog(): Promise<never> {
    return Promise.reject(new Error('not needed'));
  }
}

it('returns the events of the projects that the caller may read', async () => {
  const logs = [newLog(), newLog()];
  const service = new FeedService(new Creates(...logs));
  const [own, foreign] = logs.map(({ projectId }) => [projectId]) as [string[], string[]];
  const read = async (...options: Parameters<FeedService['page']>) => {
    const { events, next, isLast } = await service.page(...options);
    return [events.map(({ log }) => log), next, isLast];
  };
  const end = '2-ffffffff-ffff-ffff-ffff-ffffffffffff';
  expect(await read(undefined, 50, { access: own })).toEqual([[logs[0]], end, true]);
  expect(await read(undefined, 50, { projectIds: foreign })).toEqual([[logs[1]], end, true]);
  expect(await read(undefined, 1, { access: own })).toEqual([[logs[0]], `1-${logs[0]!.id}`, false]);
  expect(await read('0-' + logs[0]!.id, 50, { access: [] })).toEqual([[], `0-${logs[0]!.id}`, true]);
  expect(await read(undefined, 50)).toEqual([logs, `2-${logs[1]!.id}`, true]);
  await expect(service.page(undefined, 50, { access: own, projectIds: foreign })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
  await expect(service.page('x', 50, { access: [] })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  await expect(service.page('x'.repeat(64), 50)).rejects.toMatchObject({ code: 'GONE' });
});

it('reads on over pages without events, up to the next event', async () => {
  const log = newLog();
  const repository = new Creates(log);
  const pages = jest.spyOn(repository, 'eventsOfProjects');
  pages.mockResolvedValueOnce({ events: [], next: '0-ffffffff-ffff-ffff-ffff-ffffffffffff', isLast: false });
  const events = await new FeedService(repository).events(undefined, 50, { access: [log.projectId] });
  expect(events.map((event) => event.log)).toEqual([log]);
  expect(pages.mock.calls.map(([, cursor]) => cursor)).toEqual([
    undefined,
    '0-ffffffff-ffff-ffff-ffff-ffffffffffff',
  ]);
});
