import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MemorySink } from '../../events/memory-sink.js';
import { type RelayHost, startRelayHost } from '../../events/relay-host.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { LOG } from '../../support/requests.js';
import { eventually } from '../eventually.js';
import {
  type Clock,
  type Move,
  Movers,
  MOVES,
  MOVES_OF_NOTES,
  otherTransactions,
  type Place,
} from './support/moves.js';

const WAYS: readonly (readonly [Move, Clock])[] = [
  ...MOVES.map((move) => [move, 'right'] as const),
  ...MOVES_OF_NOTES.map((move) => [move, 'behind'] as const),
];

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

  const forget = (but = '') => queryOnce(place.url, `delete from time_logs ${but}`);
  const move = async (...way: [Move, Clock?]) => {
    place = await (await movers.save(place, ...way))();
    await recordAndTell(5);
  };

  it.each(WAYS)('a %s after it has lost all that they have, and the clock there is %s', async (...way) => {
    await recordAndTell(3);
    await forget();
    await move(...way);
  });

  it.each(MOVES)('a %s after it has lost the newest that they have', async (way) => {
    await recordAndTell(3);
    await forget('where position > (select min(position) from time_logs)');
    await move(way);
  });

  it.each(WAYS)('a %s from before what they have, and the clock there is %s', async (...way) => {
    await recordAndTell(3);
    const bring = await movers.save(place, ...way);
    await recordAndTell(3);
    place = await bring();
    await recordAndTell(5);
  });

  it('a backup, a dump and a backup, each after it has lost all that they have', async () => {
    await recordAndTell(3);
    for (const way of ['backup', 'dump', 'backup'] as const) {
      await forget();
      await move(way);
    }
  });
});
