import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseEventId, type TimeLogEvent } from '../../src/feed/index.js';
import { normalizedValues } from '../../src/time-log/index.js';
import { eventually } from '../support/eventually.js';
import { newLog } from '../support/new-log.js';
import { ALL_PROJECTS, TimeLog } from '../support/storage.js';
import { useRepository } from './use-repository.js';

describe('the feed', () => {
  const store = useRepository(undefined, [beforeEach, afterEach]);

  it('replaces the event of a log with its correction or deletion, at the end of the feed', async () => {
    const logs = [newLog(), newLog(), newLog()];
    for (const log of logs) await store.repository.record([log]);
    const after = (place: string | undefined, count: number) =>
      eventually(async () => {
        const events = await store.feed.eventsAfter(
          place === undefined ? undefined : parseEventId(place),
          1000,
        );
        expect(events.length).toBe(count);
        return events;
      });
    const before = await after(undefined, 3);
    const correction = TimeLog.record({ ...normalizedValues(logs[0]!), duration: 2 }, logs[0]!.id);
    expect(await store.repository.correct(correction, ALL_PROJECTS)).toEqual(correction);
    expect(await store.repository.correct(correction, ALL_PROJECTS)).toEqual(correction);
    expect(await store.repository.delete(logs[1]!.id, ALL_PROJECTS)).toEqual(logs[1]);
    expect(await store.repository.delete(logs[1]!.id, ALL_PROJECTS)).toBe(undefined);
    const [created, corrected, deleted] = await after(undefined, 3);
    expect([created, corrected!.log, deleted!.log]).toEqual([
      before[2],
      correction,
      { id: logs[1]!.id, projectId: logs[1]!.projectId },
    ]);
    expect([created, corrected, deleted].map((event) => event!.type)).toEqual([
      'created',
      'corrected',
      'deleted',
    ]);
    for (const { time } of [corrected!, deleted!])
      expect(Math.abs(time.getTime() - Date.now()) < 600_000).toBe(true);
    for (const { id } of before.slice(0, 2)) expect((await after(id, 3))[0]).toEqual(before[2]);
    expect(await after(before[2]!.id, 2)).toEqual([corrected, deleted]);
    expect(await store.feed.backlog(parseEventId(before[2]!.id), 5)).toEqual({
      events: 2,
      oldest: corrected!.time,
    });
  });

  it('returns the events of some projects, and a log that leaves them as a deletion', async () => {
    const [own, other, foreign] = [randomUUID(), randomUUID(), randomUUID()];
    const add = async (projectId: string) => {
      const log = TimeLog.record({ ...normalizedValues(newLog()), projectId }, newLog().id);
      await store.repository.record([log]);
      return log;
    };
    const move = async (log: TimeLog, projectId: string) => {
      const moved = TimeLog.record({ ...normalizedValues(log), projectId }, log.id);
      expect(await store.repository.correct(moved, ALL_PROJECTS)).toEqual(moved);
      return moved;
    };
    /** Reads to the end by pages of one event. */
    const read = async (projectIds: readonly string[], start?: string) => {
      const events: TimeLogEvent[] = [];
      for (let place = start; ;) {
        const page = await store.feed.eventsOfProjects(projectIds, place, 1);
        events.push(...page.events);
        if (page.isLast) return { events, place: page.next };
        expect(page.next !== undefined && page.next !== place).toBe(true);
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
        expect(events.map(({ log }) => log)).toEqual(expected);
        for (const { type, log } of events) expect(type === 'deleted').toBe(!(log instanceof TimeLog));
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
    expect(await store.repository.delete(leaving.id, ALL_PROJECTS)).toEqual(left);
    expect(await store.repository.delete(moving.id, ALL_PROJECTS)).toEqual(moved);
    await logsAfter([own, other], end, [{ id: moving.id, projectId: other }]);
    await logsAfter([own, other], undefined, [
      leftOwn,
      { id: moving.id, projectId: own },
      entered,
      { id: moving.id, projectId: other },
    ]);
    await logsAfter([], undefined, []);
  });

  it('returns and counts events after a place, in the order of commits, up to a limit', async () => {
    // The last id comes first, since the feed has the order of commits.
    const logs = Array.from({ length: 5 }, () => newLog()).toReversed();
    for (const log of logs) await store.repository.record([log]);
    // Transactions of other tests on the same server may delay events.
    const all = await eventually(async () => {
      const events = await store.feed.eventsAfter(undefined, 1000);
      expect(events.length).toBe(logs.length);
      return events;
    });
    expect(all.map(({ log }) => log)).toEqual(logs);
    expect(all[0]!.log instanceof TimeLog).toBe(true);
    expect(await store.feed.eventsAfter(undefined, 2)).toEqual(all.slice(0, 2));
    for (const [index, { id, position, log }] of all.entries()) {
      expect(id).toBe(`${position}-${log.id}`);
      const following = all.slice(index + 1, index + 3);
      expect(await store.feed.eventsAfter(parseEventId(id), 2)).toEqual(following);
      expect(await store.feed.backlog(parseEventId(id), 2)).toEqual({
        events: following.length,
        oldest: logs[index + 1]?.createdAt,
      });
    }
    const last = { position: String(2n ** 63n - 1n), logId: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
    expect(await store.feed.eventsAfter(last, 2)).toEqual([]);
    const first = { position: '0', logId: '00000000-0000-0000-0000-000000000000' };
    expect(await store.feed.eventsAfter(first, 1000)).toEqual(all);
  });
});
