import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseEventId } from '../../src/feed/index.js';
import { eventually } from '../support/eventually.js';
import { newLog } from './sample-logs.js';
import { TimeLog } from '../support/storage.js';
import { useRepository } from './use-repository.js';

describe('the feed', () => {
  const store = useRepository(undefined, [beforeEach, afterEach]);

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
