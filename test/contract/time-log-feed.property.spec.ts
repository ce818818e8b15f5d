import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../libs/host-kit/src/contract/eventually.js';
import { isFull } from '../support/extent.js';
import {
  closeInstances,
  follow,
  follower,
  type Instance,
  openInstances,
  type Reader,
  write,
} from '../support/feed-traffic.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';

/** The number of logs that are written at least, and the milliseconds for which the longest transaction is open. */
const LEAST = isFull ? 20_000 : 300;
const LONGEST = isFull ? 5_000 : 300;

let database: TestDatabase;
let instances: Instance[];

beforeAll(async () => {
  database = await createMigratedDatabase();
  instances = await openInstances(database.url);
});
afterAll(async () => {
  await closeInstances(instances);
  await database.drop();
});

/** The ids of the logs that are stored, as the writers know them. */
const stored: string[] = [];

interface NaiveReader extends Reader {
  /** What was stored, and not read, when there was nothing more to read. */
  missed: string[];
}

/** Goes on from the last row, as the feed does, but without the horizon. */
function withoutHorizonOf({ dataSource }: Instance): NaiveReader {
  let last: unknown[] = [null, null];
  const reader: NaiveReader = { name: 'reader without a horizon', read: [], missed: [], next };
  return reader;

  async function next(): Promise<number> {
    const before = stored.length;
    const rows = await dataSource.query<{ id: string; position: string }[]>(
      `select id, position from time_logs
        where $1::uuid is null or (position, id) > ($2::bigint, $1) order by position, id limit 100`,
      last,
    );
    const row = rows.at(-1);
    if (row) last = [row.id, row.position];
    reader.read.push(...rows.map(({ id }) => id));
    if (!row) reader.missed = stored.slice(0, before).filter((id) => !reader.read.includes(id));
    return rows.length;
  }
}

describe('readers of the feed, while four writers over two instances write, hold and roll back', () => {
  let order: string[];
  let followers: Reader[];
  let withoutHorizon: NaiveReader;

  beforeAll(async () => {
    const [one, two] = instances as [Instance, Instance];
    followers = [follower(one, 1), follower(two, 7), follower(two, 1000)];
    withoutHorizon = withoutHorizonOf(two);
    const readers = [...followers, withoutHorizon];
    // A reader that misses logs shows that there was something to miss.
    const isOver = () => stored.length > LEAST && withoutHorizon.missed.length > 0;
    const writing = write(instances, stored, isOver, LONGEST);
    await Promise.all(readers.map((reader) => follow(reader, isOver)));
    await writing;
    const rows = await one.dataSource.query<{ id: string }[]>(
      'select id from time_logs order by position, id',
    );
    order = rows.map(({ id }) => id);
    // Everything has ended here; transactions of other tests, on the same server, may hold events back for a while.
    await eventually(async () => {
      for (const reader of followers) {
        while ((await reader.next()) > 0);
        expect(reader.read.length).toBeGreaterThanOrEqual(stored.length);
      }
    });
  });

  it('see every log once, none that was rolled back, and all in the same order', () => {
    expect(new Set(order)).toEqual(new Set(stored));
    for (const { read } of followers) expect(read).toEqual(order);
  });

  it('would miss logs if nothing held them back while transactions are open', () => {
    expect(withoutHorizon.missed.length).toBeGreaterThan(0);
  });
});
