import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { type FeedCursor, TypeOrmFeedRepository } from '../../src/feed/index.js';
import { TimeLog, type TypeOrmTimeLogRepository } from '../../src/time-log/index.js';
import { UuidV7TimeLogIds } from '../../src/time-log/infrastructure/uuid-v7-time-log-ids.js';
import { eventually } from '../support/eventually.js';
import { isFull } from '../support/extent.js';
import { repositoryOver, useDatabase } from '../support/storage.js';
import { recordOnce } from './sample-logs.js';

const DAY = 86_400_000;
/** The number of logs that are written at least, and the milliseconds for which the longest transaction is open. */
const MIN_LOGS = isFull ? 20_000 : 300;
const LONGEST = isFull ? 5_000 : 300;
const values = { projectId: randomUUID(), duration: 1, description: '', date: '2026-01-31' };

/** An instance of the service. */
interface Instance {
  readonly dataSource: DataSource;
  readonly repository: TypeOrmTimeLogRepository;
  readonly feed: TypeOrmFeedRepository;
}

/** Reads the next logs after the last row that it has read. */
interface Reader {
  /** The ids of the logs, in the order in which it read them. */
  readonly read: string[];
  readonly next: () => Promise<number>;
}

/** A log with an id of now, yesterday or tomorrow. */
function newLog(): TimeLog {
  const shift = [0, 0, 0, -DAY, DAY][randomInt(5)]!;
  const ids = new UuidV7TimeLogIds(() => Date.now() + shift);
  return TimeLog.of(values, ids.next());
}

async function insert(runner: Pick<DataSource, 'query'>, { id }: TimeLog): Promise<void> {
  await runner.query(
    `insert into time_logs (id, project_id, duration, description, date) values ($1, $2, 1, '', $3)`,
    [id, values.projectId, values.date],
  );
}

/** Writes some logs in one transaction by SQL, which is open for a while. Returns those that it has committed. */
async function transact({ dataSource }: Instance): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction();
    const logs = Array.from({ length: 1 + randomInt(4) }, newLog);
    const [undone, ...kept] = logs;
    for (const log of kept) await insert(runner, log);
    await delay(randomInt(LONGEST));
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
 * transactions that stay open. `stored` gets the ids of what they have stored.
 */
async function write(instances: readonly Instance[], stored: string[], isOver: () => boolean): Promise<void> {
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
        const committed = await Promise.all([transact(instance), transact(instance)]);
        stored.push(...committed.flat());
      }),
    ]),
  );
}

/** Follows the feed of an instance. */
function follower({ feed }: Instance, limit: number): Reader {
  let place: FeedCursor | undefined;
  const read: string[] = [];
  const next = async () => {
    const events = await feed.eventsAfter(place, limit);
    const last = events.at(-1);
    if (last) place = { position: last.position, logId: last.log.id };
    for (const { type, log } of events)
      if (type === 'created' || (type === 'corrected' && !read.includes(log.id))) read.push(log.id);
    return events.length;
  };
  return { read, next };
}

async function follow(reader: Reader, isOver: () => boolean): Promise<void> {
  while (!isOver()) if ((await reader.next()) === 0) await delay(5);
}

const database = useDatabase();

it('readers of the feed see every log once and in one order, while writers over two instances hold and roll back', async () => {
  const open = async (): Promise<Instance> => {
    const dataSource = await database.openAsService();
    const repository = repositoryOver(dataSource);
    return { dataSource, repository, feed: new TypeOrmFeedRepository(repository) };
  };
  const [one, two] = [await open(), await open()];
  /** The ids of the logs that are stored, as the writers know them. */
  const stored: string[] = [];
  const followers = [follower(one, 1), follower(two, 7), follower(two, 1000)];
  const isOver = () => stored.length > MIN_LOGS;
  const writing = write([one, two], stored, isOver);
  await Promise.all(followers.map((reader) => follow(reader, isOver)));
  await writing;
  const rows = await one.dataSource.query<{ id: string }[]>('select id from time_logs order by position, id');
  const order = rows.map(({ id }) => id);
  // Everything has ended here; transactions of other tests, on the same server, may hold events back for a while.
  await eventually(async () => {
    for (const reader of followers) {
      while ((await reader.next()) > 0);
      expect(reader.read.length).toBeGreaterThanOrEqual(stored.length);
    }
  });
  expect(new Set(order)).toEqual(new Set(stored));
  for (const { read } of followers) expect(read).toEqual(order);
});
