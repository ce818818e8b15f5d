import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MemorySink } from '../../events/memory-sink.js';
import { type RelayHost, startRelayHost } from '../../events/relay-host.js';
import { forget } from '../properties/feed-journey.js';
import { LOG } from '../../support/requests.js';
import { eventually } from '../eventually.js';
import { Movers, MOVES, otherTransactions, type Place } from './support/moves.js';

let movers: Movers;
beforeAll(async () => {
  movers = await Movers.start();
});
afterAll(() => movers.remove());

describe('a consumer and a broker get every log that is recorded after the database has moved by', () => {
  let sink: MemorySink;
  let place: Place;
  let lastEventId: string | undefined;
  beforeEach(async () => {
    [sink, lastEventId, place] = [new MemorySink(), undefined, await movers.create()];
  });

  /** An app starts on the database, records logs, tells all of them, and ends. */
  const recordAndTell = async (logs: number) => {
    const host: RelayHost = await startRelayHost(place.url, sink);
    try {
      const recorded: string[] = [];
      while (recorded.length < logs) {
        recorded.push((await host.timeLogs.record(LOG)).id);
        await otherTransactions(place.url, 200);
      }
      const consumed = await eventually(async () => {
        const events = await host.feed.events(lastEventId, 100);
        // Before them comes what became of logs that are lost.
        expect(events.filter(({ type }) => type === 'created').map(({ log }) => log.id)).toEqual(recorded);
        return events;
      });
      lastEventId = consumed.at(-1)!.id;
      await eventually(() => {
        const published = new Set(sink.kept.map(({ data }) => data.id));
        expect(recorded.filter((id) => !published.has(id))).toEqual([]);
      });
    } finally {
      await host.close();
    }
  };

  it.each(MOVES.flatMap((move) => (['newest', 'all'] as const).map((which) => [move, which] as const)))(
    'a %s after it has lost the %s that they have',
    async (move, which) => {
      await recordAndTell(3);
      await forget(place.url, which);
      place = await (await movers.save(place, move))();
      await recordAndTell(5);
    },
  );

  it('a dump after it has lost all that they have, to a machine whose clock is behind', async () => {
    await recordAndTell(3);
    await forget(place.url, 'all');
    place = await (await movers.save(place, 'dump', 'behind'))();
    await recordAndTell(5);
  });

  it.each(MOVES)('a %s from before what they have', async (move) => {
    await recordAndTell(3);
    const bring = await movers.save(place, move);
    await recordAndTell(3);
    place = await bring();
    await recordAndTell(5);
  });
});
