import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource, type QueryRunner } from 'typeorm';
import { migrations } from '../../src/app.module.js';
import { Database } from '../../src/database/index.js';
import { connectionOptions, migrate } from '../../src/database-setup/index.js';
import { loadConfig } from '../../src/config.js';
import {
  type FeedPlace,
  TimeLog,
  timeLogEntities,
  TypeOrmTimeLogRepository,
} from '../../src/time-log/index.js';
import { UuidV7TimeLogIds } from '../../src/time-log/infrastructure/uuid-v7-time-log-ids.js';
import { eventually } from '../faults/support/eventually.js';
import { isFull } from '../faults/support/extent.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** Milliseconds for which logs are written, and for which the longest transaction is open. */
const LENGTH = isFull ? 60_000 : 3_000;
const LONGEST = isFull ? 5_000 : 1_000;
const DAY = 86_400_000;
/** The least writes that make a verdict worth something. */
const LEAST = 200;

interface Instance {
  readonly dataSource: DataSource;
  readonly repository: TypeOrmTimeLogRepository;
}

/** Reads the next logs after the last row that it has read. */
interface Reader {
  readonly name: string;
  /** The ids of the logs, in the order in which it read them. */
  readonly read: string[];
  readonly next: () => Promise<number>;
}

const { limits } = loadConfig({}, false);
const values = { projectId: randomUUID(), duration: 1, description: '', date: '2026-01-31' };

/** A log with an id of now, yesterday or tomorrow. */
function newLog(): TimeLog {
  const shift = [0, 0, 0, -DAY, DAY][randomInt(5)]!;
  const ids = new UuidV7TimeLogIds(
    () => Date.now() + shift,
    () => randomBytes(16),
  );
  return TimeLog.record(values, ids.next());
}

let database: TestDatabase;
let instances: Instance[];

beforeAll(async () => {
  database = await createTestDatabase();
  await migrate({ url: database.url, migrations });
  instances = [];
  while (instances.length < 2) {
    const dataSource = await new DataSource(
      connectionOptions(database.url, timeLogEntities, { ...limits, deadline: 30_000 }),
    ).initialize();
    instances.push({ dataSource, repository: new TypeOrmTimeLogRepository(new Database(dataSource)) });
  }
});
afterAll(async () => {
  for (const { dataSource } of instances) await dataSource.destroy();
  await database.drop();
});

async function insert(runner: QueryRunner, { id }: TimeLog): Promise<void> {
  await runner.query(
    `insert into time_logs (id, project_id, duration, description, date) values ($1, $2, 1, '', '2026-01-31')`,
    [id, values.projectId],
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

/** Four writers over two instances: two record logs, with keys and without, and two write by SQL, two at once. */
async function write(until: number): Promise<string[]> {
  const stored: string[] = [];
  const record = async ({ repository }: Instance) => {
    const log = newLog();
    if (randomInt(4) > 0) await repository.add(log);
    else await repository.addOnce(log, { principal: 'writer', text: log.id });
    stored.push(log.id);
    await delay(1);
  };
  const repeat = async (act: () => Promise<void>) => {
    while (performance.now() < until) await act();
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
  return stored;
}

/** Follows the feed. */
function follower({ repository }: Instance, limit: number): Reader {
  let place: FeedPlace | undefined;
  const read: string[] = [];
  const next = async () => {
    const events = await repository.eventsAfter(place, limit);
    const last = events.at(-1);
    if (last) place = { position: last.position, logId: last.log.id };
    read.push(...events.map(({ log }) => log.id));
    return events.length;
  };
  return { name: `follower by ${limit}`, read, next };
}

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

async function follow(reader: Reader, until: number): Promise<void> {
  while (performance.now() < until) if ((await reader.next()) === 0) await delay(5);
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
      const until = performance.now() + LENGTH;
      const writing = write(until);
      await Promise.all(readers.map((reader) => follow(reader, until)));
      stored = await writing;
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
    expect(stored.length).toBeGreaterThan(LEAST);
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
