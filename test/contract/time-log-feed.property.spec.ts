import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { isFull } from '../support/extent.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource, type QueryRunner } from 'typeorm';
import { loadConfig } from '../../src/process/config.js';
import { Database } from '../../src/database/index.js';
import { connectionOptions } from '../../src/database/setup/index.js';
import { type FeedCursor, TypeOrmFeedRepository } from '../../src/feed/index.js';
import { TimeLog, timeLogEntities, TypeOrmTimeLogRepository } from '../../src/time-log/index.js';
import { UuidV7TimeLogIds } from '../../src/time-log/infrastructure/uuid-v7-time-log-ids.js';
import { recordOnce } from './sample-logs.js';

const DAY = 86_400_000;

interface Instance {
  readonly dataSource: DataSource;
  readonly repository: TypeOrmTimeLogRepository;
  readonly feed: TypeOrmFeedRepository;
}

/** Reads the next logs after the last row that it has read. */
interface Reader {
  readonly name: string;
  /** The ids of the logs, in the order in which it read them. */
  readonly read: string[];
  readonly next: () => Promise<number>;
}

const limits = { ...loadConfig({}, false).limits, deadline: 30_000 };
const queue = { queue: limits.writeQueue, wait: limits.deadline };
const values = { projectId: randomUUID(), duration: 1, description: '', date: '2026-01-31' };

/** Two instances of the service on one database. */
async function openInstances(url: string): Promise<Instance[]> {
  const instances: Instance[] = [];
  while (instances.length < 2) {
    const dataSource = await new DataSource(connectionOptions(url, timeLogEntities, limits)).initialize();
    const repository = new TypeOrmTimeLogRepository(new Database(dataSource), queue);
    instances.push({ dataSource, repository, feed: new TypeOrmFeedRepository(repository) });
  }
  return instances;
}

async function closeInstances(instances: readonly Instance[]): Promise<void> {
  for (const { dataSource } of instances) await dataSource.destroy();
}

/** A log with an id of now, yesterday or tomorrow. */
function newLog(): TimeLog {
  const shift = [0, 0, 0, -DAY, DAY][randomInt(5)]!;
  const ids = new UuidV7TimeLogIds(
    () => Date.now() + shift,
    () => randomBytes(16),
  );
  return TimeLog.record(values, ids.next());
}

async function insert(runner: Pick<QueryRunner, 'query'>, { id }: TimeLog): Promise<void> {
  await runner.query(
    `insert into time_logs (id, project_id, duration, description, date) values ($1, $2, 1, '', $3)`,
    [id, values.projectId, values.date],
  );
}

/** Writes some logs in one transaction by SQL, which is open for a while. Returns those that it has committed. */
async function transact({ dataSource }: Instance, longest: number): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction();
    const logs = Array.from({ length: 1 + randomInt(4) }, newLog);
    const [undone, ...kept] = logs;
    for (const log of kept) await insert(runner, log);
    await delay(randomInt(longest));
    // A part of it is rolled back by itself: its rows have the number of the whole transaction.
    await runner.query('savepoint part');
    await insert(runner, undone!);
    await runner.query('rollback to savepoint part');
    const last = newLog();
    await insert(runner, last);
    if (randomInt(3) === 0) {
      await runner.rollbackTransaction();
      return [];
    }
    await runner.commitTransaction();
    return [...kept, last].map(({ id }) => id);
  } finally {
    await runner.release();
  }
}

/**
 * Four writers over two instances: two record logs, with keys and without, and two write by SQL, two at once, in
 * transactions that are open for so many milliseconds at most. `stored` gets the ids of what they have stored.
 */
async function write(
  instances: readonly Instance[],
  stored: string[],
  isOver: () => boolean,
  longest: number,
): Promise<void> {
  const record = async ({ repository }: Instance) => {
    const log = newLog();
    if (randomInt(4) > 0) await repository.record([log]);
    else await recordOnce(repository, log, { caller: 'writer', text: log.id });
    stored.push(log.id);
    await delay(1);
  };
  const repeat = async (act: () => Promise<void>) => {
    while (!isOver()) await act();
  };
  await Promise.all(
    instances.flatMap((instance) => [
      repeat(() => record(instance)),
      repeat(async () => {
        const committed = await Promise.all([transact(instance, longest), transact(instance, longest)]);
        stored.push(...committed.flat());
      }),
    ]),
  );
}

/** Follows the feed of an instance, which another one may replace. */
function follower(source: Pick<Instance, 'feed'>, limit: number): Reader {
  let place: FeedCursor | undefined;
  const read: string[] = [];
  const next = async () => {
    const events = await source.feed.eventsAfter(place, limit);
    const last = events.at(-1);
    if (last) place = { position: last.position, logId: last.log.id };
    for (const { type, log } of events)
      if (type === 'created' || (type === 'corrected' && !read.includes(log.id))) read.push(log.id);
    return events.length;
  };
  return { name: `follower by ${limit}`, read, next };
}

async function follow(reader: Reader, isOver: () => boolean): Promise<void> {
  while (!isOver()) if ((await reader.next()) === 0) await delay(5);
}

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
