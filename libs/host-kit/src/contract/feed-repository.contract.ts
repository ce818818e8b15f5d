import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type FeedRepository, parseEventId, type TimeLogEvent } from '../../../../src/feed/index.js';
import {
  ALL_PROJECTS,
  normalizedValues,
  TimeLog,
  type TimeLogRepository,
} from '../../../../src/time-log/index.js';
import type { ContractSuite } from './contract-suite.js';
import { eventually } from './eventually.js';
import { newLog } from './new-log.js';

interface RepositoryWithFeed {
  readonly repository: TimeLogRepository;
  readonly feed: FeedRepository;
}

/** Adds the cases of a feed. `create` returns an empty repository and its feed. */
export function describeFeed(suite: ContractSuite, create: () => Promise<RepositoryWithFeed>): void {
  suite.it(
    'replaces the event of a log with its correction or deletion, at the end of the feed',
    async () => {
      const { repository, feed } = await create();
      const logs = [newLog(), newLog(), newLog()];
      for (const log of logs) await repository.add(log);
      const after = (place: string | undefined, count: number) =>
        eventually(async () => {
          const events = await feed.eventsAfter(place === undefined ? undefined : parseEventId(place), 1000);
          equal(events.length, count);
          return events;
        });
      const before = await after(undefined, 3);
      const correction = TimeLog.record({ ...normalizedValues(logs[0]!), duration: 2 }, logs[0]!.id);
      deepEqual(await repository.correct(correction, ALL_PROJECTS), correction);
      deepEqual(await repository.correct(correction, ALL_PROJECTS), correction);
      deepEqual(await repository.delete(logs[1]!.id, ALL_PROJECTS), logs[1]);
      equal(await repository.delete(logs[1]!.id, ALL_PROJECTS), undefined);
      const [created, corrected, deleted] = await after(undefined, 3);
      deepEqual(
        [created, corrected!.log, deleted!.log],
        [before[2], correction, { id: logs[1]!.id, projectId: logs[1]!.projectId }],
      );
      deepEqual(
        [created, corrected, deleted].map((event) => event!.type),
        ['created', 'corrected', 'deleted'],
      );
      for (const { time } of [corrected!, deleted!]) ok(Math.abs(time.getTime() - Date.now()) < 600_000);
      for (const { id } of before.slice(0, 2)) deepEqual((await after(id, 3))[0], before[2]);
      deepEqual(await after(before[2]!.id, 2), [corrected, deleted]);
      deepEqual(await feed.backlog(parseEventId(before[2]!.id), 5), { events: 2, oldest: corrected!.time });
    },
  );

  suite.it('returns the events of some projects, and a log that leaves them as a deletion', async () => {
    const { repository, feed } = await create();
    const [own, other, foreign] = [randomUUID(), randomUUID(), randomUUID()];
    const add = async (projectId: string) => {
      const log = TimeLog.record({ ...normalizedValues(newLog()), projectId }, newLog().id);
      await repository.add(log);
      return log;
    };
    const move = async (log: TimeLog, projectId: string) => {
      const moved = TimeLog.record({ ...normalizedValues(log), projectId }, log.id);
      deepEqual(await repository.correct(moved, ALL_PROJECTS), moved);
      return moved;
    };
    /** Reads to the end by pages of one event. */
    const read = async (projectIds: readonly string[], start?: string) => {
      const events: TimeLogEvent[] = [];
      for (let place = start; ;) {
        const page = await feed.eventsOfProjects(projectIds, place, 1);
        events.push(...page.events);
        if (page.isLast) return { events, place: page.next };
        ok(page.next !== undefined && page.next !== place);
        place = page.next;
      }
    };
    const logsAfter = (
      projectIds: readonly string[],
      start: string | undefined,
      expected: readonly unknown[],
    ) =>
      eventually(async () => {
        const { events, place } = await read(projectIds, start);
        deepEqual(
          events.map(({ log }) => log),
          expected,
        );
        for (const { type, log } of events) equal(type === 'deleted', !(log instanceof TimeLog));
        return place;
      });
    const [leaving, moving, entering] = [await add(own), await add(own), await add(foreign)];
    await logsAfter([foreign], undefined, [entering]);
    const start = await logsAfter([own, other], undefined, [leaving, moving]);
    const left = await move(leaving, foreign);
    const [moved, entered] = [await move(moving, other), await move(entering, own)];
    const leftOwn = { id: leaving.id, projectId: own };
    const end = await logsAfter([own, other], start, [leftOwn, moved, entered]);
    await logsAfter([own], start, [leftOwn, { id: moving.id, projectId: own }, entered]);
    await logsAfter([foreign], start, [left, { id: entering.id, projectId: foreign }]);
    deepEqual(await repository.delete(leaving.id, ALL_PROJECTS), left);
    deepEqual(await repository.delete(moving.id, ALL_PROJECTS), moved);
    await logsAfter([own, other], end, [{ id: moving.id, projectId: other }]);
    await logsAfter([own, other], undefined, [
      leftOwn,
      { id: moving.id, projectId: own },
      entered,
      { id: moving.id, projectId: other },
    ]);
    await logsAfter([], undefined, []);
  });

  suite.it('returns and counts events after a place, in the order of commits, up to a limit', async () => {
    const { repository, feed } = await create();
    // The last id comes first, since the feed has the order of commits.
    const logs = Array.from({ length: 5 }, () => newLog()).toReversed();
    for (const log of logs) await repository.add(log);
    // Transactions of other tests on the same server may delay events.
    const all = await eventually(async () => {
      const events = await feed.eventsAfter(undefined, 1000);
      equal(events.length, logs.length);
      return events;
    });
    deepEqual(
      all.map(({ log }) => log),
      logs,
    );
    ok(all[0]!.log instanceof TimeLog);
    deepEqual(await feed.eventsAfter(undefined, 2), all.slice(0, 2));
    for (const [index, { id, position, log }] of all.entries()) {
      equal(id, `${position}-${log.id}`);
      const following = all.slice(index + 1, index + 3);
      deepEqual(await feed.eventsAfter(parseEventId(id), 2), following);
      deepEqual(await feed.backlog(parseEventId(id), 2), {
        events: following.length,
        oldest: logs[index + 1]?.createdAt,
      });
    }
    const last = { position: String(2n ** 63n - 1n), logId: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
    deepEqual(await feed.eventsAfter(last, 2), []);
    const first = { position: '0', logId: '00000000-0000-0000-0000-000000000000' };
    deepEqual(await feed.eventsAfter(first, 1000), all);
  });
}
