import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../src/time-log/contract/eventually.js';
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

/** Milliseconds for which logs are written, and for which the longest transaction is open. */
const LENGTH = isFull ? 60_000 : 3_000;
const LONGEST = isFull ? 5_000 : 1_000;
/** More writes than these make a verdict worth something, however slow the machine is. */
const LEAST = 200;

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

/** Goes on from the last row, as the feed does, but by another order or without the horizon. */
function naive({ dataSource }: Instance, name: string, order: string): Reader {
  let last: unknown[] | undefined;
  const read: string[] = [];
  const next = async () => {
    const rows = await dataSource.query<{ id: string; position: string }[]>(
      `select id, position from time_logs
        where $1::uuid is null or (${order}) > (${order === 'id' ? '$1' : '$2::bigint, $1'}) and $2::bigint is not null
        order by ${order} limit 100`,
      last ?? [null, null],
    );
    const row = rows.at(-1);
    if (row) last = [row.id, row.position];
    read.push(...rows.map(({ id }) => id));
    return rows.length;
  };
  return { name, read, next };
}

describe('readers of the feed, while four writers over two instances write, hold and roll back', () => {
  let stored: string[];
  let order: string[];
  let followers: Reader[];
  let byId: Reader;
  let withoutHorizon: Reader;

  beforeAll(
    async () => {
      const [one, two] = instances as [Instance, Instance];
      followers = [follower(one, 1), follower(two, 7), follower(two, 1000)];
      byId = naive(one, 'reader of ids', 'id');
      withoutHorizon = naive(two, 'reader of positions without a horizon', 'position, id');
      const readers = [...followers, byId, withoutHorizon];
      const end = performance.now() + LENGTH;
      stored = [];
      const isOver = () => performance.now() > end && stored.length > LEAST;
      const writing = write(instances, stored, isOver, LONGEST);
      await Promise.all(readers.map((reader) => follow(reader, isOver)));
      await writing;
      const rows = await one.dataSource.query<{ id: string }[]>(
        'select id from time_logs order by position, id',
      );
      order = rows.map(({ id }) => id);
      // Everything has ended here; transactions of other tests, on the same server, may hold events back for a while.
      for (const reader of readers) while ((await reader.next()) > 0);
      await eventually(async () => {
        for (const reader of followers) {
          while ((await reader.next()) > 0);
          expect(reader.read.length).toBeGreaterThanOrEqual(stored.length);
        }
      }, 20_000).catch(() => undefined);
    },
    2 * LENGTH + 60_000,
  );

  const missedBy = ({ read }: Reader) => {
    const seen = new Set(read);
    return stored.filter((id) => !seen.has(id));
  };

  it('see every log once, none that was rolled back, and all in the same order', () => {
    expect(new Set(order)).toEqual(new Set(stored));
    for (const { read } of followers) expect(read).toEqual(order);
  });

  it('would miss logs if they went on from ids', () => {
    expect(missedBy(byId).length).toBeGreaterThan(0);
  });

  it('would miss logs if nothing held them back while transactions are open', () => {
    expect(missedBy(withoutHorizon).length).toBeGreaterThan(0);
  });
});
