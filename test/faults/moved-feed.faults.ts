import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MemorySink } from '../events/memory-sink.js';
import { type RelayHost, startRelayHost } from '../events/relay-host.js';
import {
  closeInstances,
  follower,
  type Instance,
  openInstances,
  type Reader,
  write,
} from '../support/feed-traffic.js';
import { LOG } from '../support/requests.js';
import { eventually } from './support/eventually.js';
import { isFull } from './support/extent.js';
import { type Move, Movers, MOVES, NOTE, otherTransactions, type Place } from './support/moves.js';
import { queryOnce } from './support/postgres-cluster.js';

const RUNS = isFull ? 5 : 1;
const LIMIT = 600_000;
/** Milliseconds of one time of writing, and for which the longest of its transactions is open. */
const LENGTH = 200;
const LONGEST = 100;

const forget = async (url: string, which: 'newest' | 'all') =>
  queryOnce(
    url,
    `delete from time_logs ${which === 'newest' ? 'where position > (select min(position) from time_logs)' : ''}`,
  );

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
        const events = await host.timeLogs.events(lastEventId, 100);
        expect(events.map(({ log }) => log.id)).toEqual(recorded);
        return events;
      }, 20_000);
      lastEventId = consumed.at(-1)!.id;
      await eventually(() => {
        const published = new Set(sink.kept.map(({ data }) => data.id));
        expect(recorded.filter((id) => !published.has(id))).toEqual([]);
      }, 20_000);
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
    LIMIT,
  );

  it(
    'a dump after it has lost all that they have, to a machine whose clock is behind',
    async () => {
      await recordAndTell(3);
      await forget(place.url, 'all');
      // As if the last start had been in 2100.
      const [{ note }] = (await queryOnce(
        place.url,
        `select regexp_replace(${NOTE}, 'At \\d+', 'At 4102444800') as note`,
      )) as [{ note: string }];
      expect(note).toContain('At 4102444800.');
      await queryOnce(place.url, `comment on function keep_time_log_positions() is '${note}'`);
      place = await (await movers.save(place, 'dump'))();
      await recordAndTell(5);
    },
    LIMIT,
  );

  it.each(MOVES)(
    'a %s from before what they have',
    async (move) => {
      await recordAndTell(3);
      const bring = await movers.save(place, move);
      await recordAndTell(3);
      place = await bring();
      await recordAndTell(5);
    },
    LIMIT,
  );
});

/** What happens between two times in which writers write and readers read. */
const step = fc.record({
  lost: fc.constantFrom('nothing', 'newest', 'all'),
  act: fc.constantFrom('other writers', 'new start', 'save', 'go back', 'move', 'move'),
  move: fc.constantFrom(...MOVES),
});
/** That must not be left to chance. */
const ALWAYS: Step[][] = [
  MOVES.map((move) => ({ lost: 'all', act: 'move', move })),
  [
    { lost: 'nothing', act: 'move', move: 'dump' },
    { lost: 'nothing', act: 'move', move: 'dump' },
    { lost: 'all', act: 'move', move: 'backup' },
  ],
  [
    { lost: 'nothing', act: 'save', move: 'copy' },
    { lost: 'newest', act: 'other writers', move: 'copy' },
    { lost: 'nothing', act: 'go back', move: 'copy' },
  ],
];
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Saved {
  readonly move: Move;
  /** How often positions will have moved with the database when it is there. */
  readonly moves: number;
  readonly bring: () => Promise<Place>;
}

/** A database that moves while it is written, and its feed is read. */
class Journey {
  private instances: Instance[] = [];
  private saved: Saved[] = [];
  private moves = 0;
  private readonly readers: readonly Reader[] = [1, 7, 1000].map((limit) => follower(this, limit));

  private constructor(private place: Place) {}

  static async begin(): Promise<Journey> {
    const journey = new Journey(await movers.create());
    await journey.start();
    return journey;
  }

  /** That of the instance which the readers ask. */
  get repository() {
    return this.instances[0]!.repository;
  }

  end(): Promise<void> {
    return closeInstances(this.instances.splice(0));
  }

  /** Writes, and holds what the readers have seen since the beginning against the table. */
  async writeAndRead(): Promise<void> {
    await write(this.instances, performance.now() + LENGTH, LONGEST);
    const rows = await queryOnce<{ id: string }>(this.place.url, 'select id from time_logs');
    expect(rows.length).toBeGreaterThan(0);
    for (const { read, next } of this.readers) {
      await eventually(async () => {
        while ((await next()) > 0);
        const seen = new Set(read);
        expect([rows.filter(({ id }) => !seen.has(id)), seen.size]).toEqual([[], read.length]);
      }, 5_000);
    }
  }

  async take({ lost, act, move }: Step): Promise<void> {
    const { url, cluster } = this.place;
    if (lost !== 'nothing') await forget(url, lost);
    if (act === 'other writers') return otherTransactions(url, 1_000);
    await this.end();
    if (act === 'new start') {
      await cluster.end('SIGINT');
      await cluster.start();
    } else if (act === 'save') this.saved.push(await this.save(move));
    else await this.go(move, act === 'go back');
    await this.start();
  }

  private async start(): Promise<void> {
    this.instances = await openInstances(this.place.url);
    await Promise.all(this.instances.map(({ repository }) => repository.keepPositions()));
  }

  private async save(move: Move): Promise<Saved> {
    const bring = await movers.save(this.place, move);
    return { move, moves: this.moves + (move === 'copy' ? 0 : 1), bring };
  }

  /** Goes to what was saved last like that, or to what is saved now. */
  private async go(move: Move, isBack: boolean): Promise<void> {
    // Behind the last move nothing knows how far that went (feed/README.md).
    const before = this.saved.findLast((saved) => saved.move === move && saved.moves >= this.moves);
    const to = (isBack ? before : undefined) ?? (await this.save(move));
    // Files can be started once.
    if (move === 'copy' || move === 'recovery') this.saved = this.saved.filter((saved) => saved !== to);
    [this.place, this.moves] = [await to.bring(), to.moves];
  }
}

describe('whoever follows the feed while the database moves', () => {
  it(
    'gets every log that is there, once, whatever comes between',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 10 }), async (steps) => {
          const journey = await Journey.begin();
          try {
            await journey.writeAndRead();
            for (const taken of steps) {
              await journey.take(taken);
              await journey.writeAndRead();
            }
          } finally {
            await journey.end();
          }
        }),
        { numRuns: ALWAYS.length + RUNS, examples: ALWAYS.map((steps) => [steps]), endOnFailure: true },
      );
    },
    LIMIT,
  );
});
