import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { QueryRunner } from 'typeorm';
import {
  beside,
  Database,
  DataSource,
  migrate,
  migrations,
  plainOptions,
  TimeLogCounts,
  untilWaiting,
  useDatabase,
} from '../support/storage.js';
import { createTestDatabase } from '../support/test-database.js';

/** Logs of three projects, from a number on: some days in every century, and two that are crowded. */
const logsFrom = (first: number, count: number) => `
  select ('019c1370-4e1b-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
         ('00000000-0000-0000-0000-' || lpad((n % 3)::text, 12, '0'))::uuid, n, '',
         case n % 4 when 0 then date '2026-01-31' when 1 then date '2026-02-01'
                    else date '0001-01-01' + (n::bigint * 7919 % 3652059)::integer end
    from generate_series(${first}, ${first + count - 1}) n`;
/** Logs that are there before each test. */
const LOGS = 300;

const database = useDatabase({ poolSize: 20 });
let dataSource: DataSource;
/** For what takes the rights of a superuser: files of the server, and other roles. */
let superuser: DataSource;
let counts: TimeLogCounts;

beforeAll(async () => {
  ({ dataSource } = database);
  superuser = await database.open({ url: database.superuserUrl, poolSize: 1 });
  counts = new TimeLogCounts(new Database(dataSource));
});
beforeEach(async () => {
  await dataSource.query('truncate time_logs');
  await dataSource.query(`insert into time_logs ${logsFrom(1, LOGS)}`);
});

const begin = database.transaction.bind(database);
/** The number of logs, all of which are counted. */
const expectRight = async (logs: number) => expect(await counts.verify()).toEqual({ logs, wrong: 0 });

describe('counts and sums are right', () => {
  it.each([
    ['an insert of nothing', `insert into time_logs ${logsFrom(2000, 0)}`, LOGS],
    ['an insert of one', `insert into time_logs ${logsFrom(2000, 1)}`, LOGS + 1],
    ['an insert of many', `insert into time_logs ${logsFrom(2000, 1000)}`, LOGS + 1000],
    [
      'an insert that skips what is there',
      `insert into time_logs ${logsFrom(1, LOGS + 10)} on conflict do nothing`,
      LOGS + 10,
    ],
    [
      'an insert that changes what is there',
      `insert into time_logs ${logsFrom(1, LOGS + 10)} on conflict (id) do update set date = '1999-12-31'`,
      LOGS + 10,
    ],
    ['an update of dates', `update time_logs set date = date - 1 where date > '0001-01-01'`, LOGS],
    ['an update of projects', `update time_logs set project_id = gen_random_uuid()`, LOGS],
    ['an update of durations alone', `update time_logs set duration = 2`, LOGS],
    ['an update of nothing', `update time_logs set description = 'other'`, LOGS],
    ['a delete of some', `delete from time_logs where duration <= 100`, LOGS - 100],
    ['a delete of all', `delete from time_logs`, 0],
    ['a truncate', `truncate time_logs`, 0],
    [
      'a merge',
      `merge into time_logs t using (${logsFrom(1, 10)}) s (id) on t.id = s.id when matched then delete`,
      LOGS - 10,
    ],
  ])('after %s', async (_what, sql, logs) => {
    await dataSource.query(sql);
    await expectRight(logs);
  });

  it('after a transaction that is rolled back, whole or in part', async () => {
    const runner = await begin();
    await runner.query(`insert into time_logs ${logsFrom(2000, 10)}`);
    await runner.query('savepoint here');
    await runner.query(`insert into time_logs ${logsFrom(3000, 10)}`);
    await runner.query('rollback to here');
    await runner.query(`insert into time_logs ${logsFrom(4000, 10)}`);
    await runner.commitTransaction();
    await runner.startTransaction();
    await runner.query('delete from time_logs');
    await runner.rollbackTransaction();
    await expectRight(LOGS + 20);
  });

  it('after a copy, and after the restore of a dump of data alone, which holds the counts too', async () => {
    const [{ folder }] = await superuser.query<[{ folder: string }]>(
      `select current_setting('data_directory') as folder`,
    );
    const copy = async (direction: 'from' | 'to') => {
      for (const table of ['time_log_counts', 'time_logs'])
        await superuser.query(`copy ${table} ${direction} '${folder}/${database.name}.${table}'`);
    };
    await copy('to');
    await superuser.query('truncate time_logs');
    await copy('from');
    await expectRight(LOGS);
    // As pg_restore does it with --disable-triggers; the superuser has one session.
    await superuser.query('truncate time_logs; set session_replication_role = replica');
    await copy('from');
    await superuser.query('reset session_replication_role');
    await expectRight(LOGS);
  });

  it('for a role that may do no more than write logs', async () => {
    await superuser.query(
      `create role log_writer; grant insert, delete on time_logs to log_writer;
       grant select (id) on time_logs to log_writer; set role log_writer`,
    );
    await superuser.query(`insert into time_logs ${logsFrom(2000, 10)}`);
    await superuser.query(`delete from time_logs where id = '019c1370-4e1b-7000-8000-000000000001'`);
    await superuser.query('reset role; drop owned by log_writer; drop role log_writer');
    await expectRight(LOGS + 9);
  });
});

describe('a row of counts from elsewhere', () => {
  const rows = async (runner: QueryRunner) =>
    ((await runner.query('select count(*)::integer as count from time_log_counts')) as [{ count: number }])[0]
      .count;
  /** The number of rows that are taken. */
  const taken = async (runner: QueryRunner) => {
    const before = await rows(runner);
    await runner.query(
      `insert into time_log_counts values (true, gen_random_uuid(), 4096, '2026-01-31', 0, 1, null, 1)`,
    );
    return (await rows(runner)) - before;
  };

  it('is not taken, also in a transaction in which logs were counted', async () => {
    const runner = await begin();
    for (const change of [
      `insert into time_logs ${logsFrom(2000, 10)}`,
      `update time_logs set date = date - 1 where date > '0001-01-01'`,
      'delete from time_logs where duration < 10',
      'select rebuild_time_log_counts()',
    ]) {
      await runner.query(change);
      expect(await taken(runner)).toBe(0);
    }
    await runner.query('savepoint here');
    await expect(runner.query(`insert into time_logs ${logsFrom(2000, 10)}`)).rejects.toThrow(/duplicate/);
    await runner.query('rollback to here');
    expect(await taken(runner)).toBe(0);
  });

  it('is taken from who says that they count, before and after logs are counted', async () => {
    const runner = await begin();
    await runner.query(`set local time_logs.counting = 'on'`);
    await runner.query(`insert into time_logs ${logsFrom(2000, 10)}`);
    expect(await taken(runner)).toBe(1);
  });
});

/** Transactions that have written to the same days, each while all before it are still open. */
async function openWriters(setting = 'select'): Promise<QueryRunner[]> {
  const writers: QueryRunner[] = [];
  while (writers.length < WRITERS) {
    const writer = await begin();
    await writer.query(setting);
    await writer.query(`insert into time_logs ${logsFrom(10_000 + 100 * writers.length, 50)}`);
    writers.push(writer);
  }
  return writers;
}
const WRITERS = 12;
const WITHOUT_WAITING = `set local lock_timeout = '1ms'`;

it('transactions that write at the same time never wait for one another', async () => {
  const writers = await openWriters(WITHOUT_WAITING);
  for (const [index, writer] of writers.reverse().entries()) {
    await writer.query(`insert into time_logs ${logsFrom(20_000 + 100 * index, 50)}`);
    await writer.query(`delete from time_logs where duration = ${index + 1}`);
    await writer.commitTransaction();
  }
  await expectRight(LOGS + WRITERS * 100 - WRITERS);
});

describe('verify and rebuild', () => {
  it.each([
    ['a count that is missing', `delete from time_log_counts where of_all`],
    ['a total that is wrong', `update time_log_counts set total = total + 1 where width = 4096`],
    ['a day that is wrong', `update time_log_counts set days[7] = 5 where width = 32`],
    ['a sum that is wrong', `update time_log_counts set duration = duration + 0.001 where width = 4096`],
    ['the sum of a day that is wrong', `update time_log_counts set durations[7] = 0.5 where width = 32`],
    ['sums that are missing', `update time_log_counts set duration = 0, durations = null`],
    ['counts of nothing', `update time_log_counts set first_day = first_day + 64 where width = 32`],
    ['no counts at all', `delete from time_log_counts`],
  ])('see and mend %s', async (_what, damage) => {
    await dataSource.query(damage);
    const { wrong } = await counts.verify();
    expect(wrong).toBeGreaterThan(0);
    expect(await counts.rebuild()).toBe(wrong);
    await expectRight(LOGS);
  });

  it('are right while others write', async () => {
    let written = 0;
    const write = () => dataSource.query(`insert into time_logs ${logsFrom(100_000 + written++, 1)}`);
    await beside([write, write, write], async () => {
      for (let round = 0; round < 3; round++) {
        // With the slot taken: else a writer in it has the same rows in another order, and one of the two is ended.
        await dataSource.query(
          `select pg_advisory_xact_lock('time_logs'::regclass::oid::integer, 0);
           delete from time_log_counts where slot = 0 and width = 32`,
        );
        await counts.rebuild();
        expect(await counts.verify()).toMatchObject({ wrong: 0 });
      }
    });
    await expectRight(LOGS + written);
  });
});

describe('what sees too little to keep the counts right', () => {
  const UNDER = ['REPEATABLE READ', 'SERIALIZABLE'] as const;
  const READ_COMMITTED = /set transaction isolation level read committed first/;
  /** Truncates in a transaction that has begun, beside a writer for whom it waits. */
  const truncateAfterWriter = async (truncating: QueryRunner) => {
    await dataSource.query('truncate time_logs');
    await truncating.query('select 1');
    const writer = await begin();
    await writer.query(`insert into time_logs ${logsFrom(1, 10)}`);
    const truncated = Promise.allSettled([truncating.query('truncate time_logs')]);
    await untilWaiting(dataSource);
    await writer.commitTransaction();
    return (await truncated)[0];
  };

  it('is one of two rebuilds at once: it fails, and says why', async () => {
    await dataSource.query('delete from time_log_counts');
    const first = await begin();
    await first.query('select rebuild_time_log_counts()');
    await expect(counts.rebuild()).rejects.toThrow(
      'another rebuild of the counts of time logs is under way: wait for its end',
    );
    await first.commitTransaction();
    await expectRight(LOGS);
    expect(await counts.rebuild()).toBe(0);
  });

  it.each(UNDER)('is a rebuild under %s: it fails, for it may not see the one before', async (isolation) => {
    await dataSource.query('delete from time_log_counts');
    const runner = await begin(isolation);
    await runner.query('select 1');
    await counts.rebuild();
    await expect(runner.query('select rebuild_time_log_counts()')).rejects.toThrow(READ_COMMITTED);
    await expectRight(LOGS);
  });

  it.each(UNDER)('is a truncate under %s that waits for a writer: it fails', async (isolation) => {
    expect(await truncateAfterWriter(await begin(isolation))).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringMatching(READ_COMMITTED) },
    });
    await expectRight(10);
  });

  it('is not a truncate under read committed that waits for a writer', async () => {
    const truncating = await begin();
    expect(await truncateAfterWriter(truncating)).toMatchObject({ status: 'fulfilled' });
    await truncating.commitTransaction();
    await expectRight(0);
  });

  it('is not a rebuild that waits for a truncate', async () => {
    const truncating = await begin();
    await truncating.query('truncate time_logs');
    const rebuilt = dataSource.query('select rebuild_time_log_counts() as wrong');
    await untilWaiting(dataSource);
    await truncating.commitTransaction();
    expect(await rebuilt).toEqual([{ wrong: '0' }]);
    await expectRight(0);
  });
});

describe('slots that many transactions at once have begun', () => {
  const SPREAD = LOGS + WRITERS * 50;

  /** Leaves counts in a slot for each writer. */
  async function spread(): Promise<void> {
    for (const writer of await openWriters()) await writer.commitTransaction();
  }
  const slots = async () =>
    (await dataSource.query<{ slot: number }[]>('select distinct slot from time_log_counts order by 1')).map(
      ({ slot }) => slot,
    );
  const fold = async (most = 1_000_000, source: DataSource | QueryRunner = dataSource) =>
    ((await source.query('select fold_time_log_counts($1) as folded', [most])) as [{ folded: number }])[0]
      .folded;

  it('are folded into the first, whatever they hold, and every count stays', async () => {
    await spread();
    await dataSource.query('delete from time_logs where duration between 10000 and 10200');
    expect(await slots()).toEqual(Array.from({ length: WRITERS }, (_, slot) => slot));
    expect(await fold()).toBeGreaterThan(500);
    expect(await slots()).toEqual([0]);
    await expectRight(SPREAD - 101);
    expect(await fold()).toBe(0);
  });

  it('are folded some rows at a time, until fewer than may be are', async () => {
    await spread();
    for (let [folded, rounds] = [300, 0]; folded === 300; rounds++) {
      folded = await fold(300);
      expect(folded).toBeLessThanOrEqual(300);
      expect(rounds).toBeLessThan(100);
      await expectRight(SPREAD);
    }
    expect(await slots()).toEqual([0]);
  });

  it('are the same sums in a snapshot of before', async () => {
    await spread();
    const reader = await begin('REPEATABLE READ');
    const total = async () =>
      (await reader.query(
        `select time_logs_since(null, '0001-01-01'), count(*) from time_log_count_differences()`,
      )) as unknown;
    const before = await total();
    await fold();
    expect(await total()).toEqual(before);
  });

  it('are passed over while a transaction holds them, and nobody waits', async () => {
    await spread();
    const holders = [await begin(), await begin()];
    for (const [index, holder] of holders.entries())
      await holder.query(`insert into time_logs ${logsFrom(20_000 + index, 1)}`);
    const [folder, writer] = [await begin(), await begin()];
    await folder.query(WITHOUT_WAITING);
    await fold(undefined, folder);
    // Before the fold is committed: whoever writes takes a slot that it does not hold.
    await writer.query(WITHOUT_WAITING);
    await writer.query(`insert into time_logs ${logsFrom(30_000, 50)}`);
    for (const session of [writer, folder, ...holders]) await session.commitTransaction();
    // Those that were held, the one in between, and the one of the writer.
    expect(await slots()).toEqual([0, 1, 2, WRITERS]);
    await expectRight(SPREAD + 52);
    await fold();
    expect(await slots()).toEqual([0]);
  });

  it('are right at every moment while others write, fold and read', async () => {
    const writers = Array.from({ length: 8 }, (_, index) => 100_000 * (index + 1));
    const read = async () => expect(await counts.verify()).toMatchObject({ wrong: 0 });
    await beside([() => fold(50), () => fold(50), read, read], () =>
      Promise.all(
        writers.map(async (first) => {
          for (let log = first; log < first + 1_000; log += 100) {
            await dataSource.query(`insert into time_logs ${logsFrom(log, 20)}`);
            await dataSource.query(`update time_logs set date = '2026-03-01' where duration = ${log}`);
            await dataSource.query(`delete from time_logs where duration = ${log + 1}`);
          }
        }),
      ),
    );
    await expectRight(LOGS + writers.length * 10 * 19);
  });

  it('are not folded beside a truncate, which would not see what is moved', async () => {
    await spread();
    const truncating = await begin();
    await truncating.query('truncate time_logs');
    expect(await fold()).toBe(0);
    await truncating.rollbackTransaction();
    const folder = await begin();
    await fold(10, folder);
    const truncated = truncating.query('truncate time_logs');
    await untilWaiting(dataSource);
    await folder.commitTransaction();
    await truncated;
    await expectRight(0);
  });
});

describe('the migrations', () => {
  /** Makes a database by the migrations before one, and runs the rest within the act. */
  async function migrating(
    name: string,
    act: (old: DataSource, rest: () => Promise<unknown>) => Promise<number>,
  ) {
    const other = await createTestDatabase();
    const { url } = other;
    const old = await new DataSource({ ...plainOptions(url), poolSize: 4 }).initialize();
    try {
      const first = migrations.findIndex((migration) => migration.name.startsWith(name));
      await migrate({ url, migrations: migrations.slice(0, first) });
      const logs = await act(old, () => migrate({ url, migrations }));
      expect(await new TimeLogCounts(new Database(old)).verify()).toEqual({ logs, wrong: 0 });
    } finally {
      await old.destroy();
      await other.drop();
    }
  }

  it.each([
    ['came to be', 'CreateTimeLogCounts'],
    ['had sums beside them', 'AddDurationSums'],
  ])('count and sum the logs of before counts %s, and those that come and change meanwhile', (_what, name) =>
    migrating(name, async (old, rest) => {
      await old.query(`insert into time_logs ${logsFrom(1, 1_000)}`);
      let written = 0;
      const write = async () => {
        await old.query(`insert into time_logs ${logsFrom(100_000 + written, 1)}`);
        written += 1;
        await old.query(`update time_logs set duration = 0.1 where duration = ${written}`);
      };
      await beside([write], rest);
      return 1_000 + written;
    }),
  );

  it('wait for who has only counted, before they have all triggers sum', () =>
    migrating('KeepDurationSums', async (old, rest) => {
      const runner = await begin('READ COMMITTED', old);
      await runner.query(`insert into time_logs ${logsFrom(1, 10)}`);
      const migrated = rest();
      await untilWaiting(old);
      const done = await old.query<{ name: string }[]>('select name from migrations');
      expect(done.filter(({ name }) => name.startsWith('KeepDurationSums'))).toEqual([]);
      await runner.commitTransaction();
      await migrated;
      await database.endTransactions();
      return 10;
    }));
});
