import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
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
const MIN_LOGS = isFull ? 20_000 : 300;
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

describe('readers of the feed, while four writers over two instances write, hold and roll back', () => {
  let order: string[];
  let followers: Reader[];

  beforeAll(async () => {
    const [one, two] = instances as [Instance, Instance];
    followers = [follower(one, 1), follower(two, 7), follower(two, 1000)];
    const isOver = () => stored.length > MIN_LOGS;
    const writing = write(instances, stored, isOver, LONGEST);
    await Promise.all(followers.map((reader) => follow(reader, isOver)));
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
});
