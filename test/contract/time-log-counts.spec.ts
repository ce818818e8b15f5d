import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource, type QueryRunner } from 'typeorm';
import { Database } from '../../src/database/index.js';
import { migrate, plainOptions } from '../../src/database/setup/index.js';
import { migrations } from '../../src/app.module.js';
import { TimeLogCountsCheck } from '../../src/time-log/index.js';
import { untilWaiting, useDatabase, whileRepeating } from '../support/storage.js';
import { createTestDatabase } from '../support/test-database.js';
import { loadVersion03 } from '../upgrade/version-0-3.js';

/** Logs of three projects, from a number on: some days in every century, and two that are crowded. */
const logsFrom = (first: number, count: number) => `
  select ('019c1370-4e1b-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
         ('00000000-0000-0000-0000-' || lpad((n % 3)::text, 12, '0'))::uuid, n, '',
         case when n % 16 < 7 then date '2026-01-31' when n % 16 < 14 then date '2026-02-01'
              else date '0001-01-01' + (n::bigint * 7919 % 3652059)::integer end
    from generate_series(${first}, ${first + count - 1}) n`;
/** Logs that are there before each test. */
const LOGS = 300;

const database = useDatabase({ poolSize: 20 });
let dataSource: DataSource;
/** For what takes the rights of a superuser: files of the server, and other roles. */
let superuser: DataSource;
let counts: TimeLogCountsCheck;

beforeAll(async () => {
  ({ dataSource } = database);
  superuser = await database.open({ url: database.superuserUrl, poolSize: 1 });
  counts = new TimeLogCountsCheck(new Database(dataSource));
});
beforeEach(async () => {
  await dataSource.query('truncate time_logs');
  await dataSource.query(`insert into time_logs ${logsFrom(1, LOGS)}`);
});

const begin = database.transaction.bind(database);
type Source = Pick<DataSource, 'query'> | QueryRunner;
/** Returns the only row of a statement. */
async function one<T>(sql: string, source: Source = dataSource): Promise<T> {
  const [row] = (await source.query(`select (${sql}) as value`)) as [{ value: T }];
  return row.value;
}
const fold = (most = 1_000_000, source?: Source) => one<number>(`fold_time_log_counts(${most})`, source);
/** The number of changes that wait for a fold. */
const waiting = (source?: Source) => one<number>('select count(*)::integer from time_log_changes', source);
/** The number of rows of parts that wait for a fold. */
const parts = () => one<number>('select count(*)::integer from time_log_months where part > 0');
/** The number of logs, all of which are counted. */
const expectRight = async (logs: number) => expect(await counts.verify()).toEqual({ logs, wrong: 0 });
/** The same before and after a fold. */
const expectRightThroughFold = async (logs: number) => {
  await expectRight(logs);
  await fold();
  await expectRight(logs);
};

describe('counts and sums are right', () => {
  it.each([
    ['an insert of nothing', `insert into time_logs ${logsFrom(2000, 0)}`, LOGS],
    ['an insert of one', `insert into time_logs ${logsFrom(2000, 1)}`, LOGS + 1],
    ['an insert of a full row of changes', `insert into time_logs ${logsFrom(2000, 256)}`, LOGS + 256],
    ['an insert of more', `insert into time_logs ${logsFrom(2000, 257)}`, LOGS + 257],
    ['an insert of the most that changes hold', `insert into time_logs ${logsFrom(2000, 4096)}`, LOGS + 4096],
    ['an insert of a part', `insert into time_logs ${logsFrom(2000, 4097)}`, LOGS + 4097],
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
  ])('after %s, before and after a fold', async (_what, sql, logs) => {
    await dataSource.query(sql);
    await expectRightThroughFold(logs);
    expect([await waiting(), await parts()]).toEqual([0, 0]);
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

  it('after a transaction that was prepared before a fold, and committed after it', async () => {
    if ((await one<string>(`current_setting('max_prepared_transactions')`)) === '0') return;
    const [committed, rolledBack] = ['committed', 'rolled back'].map((end) => `'${database.name} ${end}'`);
    for (const [index, name] of [committed, rolledBack].entries())
      await superuser.query(
        `begin; insert into time_logs ${logsFrom(2000 + 1000 * index, 10)}; prepare transaction ${name}`,
      );
    await fold();
    await expectRight(LOGS);
    await superuser.query(`commit prepared ${committed}`);
    await superuser.query(`rollback prepared ${rolledBack}`);
    await expectRight(LOGS + 10);
    expect(await fold()).toBe(10);
    await expectRight(LOGS + 10);
  });

  describe('after the restore of a dump of data alone, which holds the counts too', () => {
    const TABLES = ['changes', 'decades', 'folds', 'months'].map((name) => `time_log_${name}`);
    let folder: string;
    const copy = async (direction: 'from' | 'to') => {
      for (const table of [...TABLES, 'time_logs'])
        await superuser.query(`copy ${table} ${direction} '${folder}/${database.name}.${table}'`);
    };
    /** As pg_restore does it with --disable-triggers; the superuser has one session. */
    const copyWithoutTriggers = async () => {
      await superuser.query('set session_replication_role = replica');
      await copy('from');
      await superuser.query('reset session_replication_role');
    };

    beforeEach(async () => {
      folder = await one(`current_setting('data_directory')`, superuser);
      // Some are folded, some wait, and some are a part.
      await dataSource.query(`insert into time_logs ${logsFrom(2000, 100)}`);
      await fold(100);
      await dataSource.query(`insert into time_logs ${logsFrom(3000, 100)}`);
      await dataSource.query(`insert into time_logs ${logsFrom(10_000, 5_000)}`);
      expect(await waiting()).toBeGreaterThan(0);
      expect(await parts()).toBeGreaterThan(0);
      await copy('to');
      await superuser.query('truncate time_logs');
    });

    const ALL = LOGS + 200 + 5_000;

    it('with triggers', async () => {
      await copy('from');
      await expectRightThroughFold(ALL);
    });

    it('without them, into a database that has not folded', async () => {
      await superuser.query('delete from time_log_folds');
      await copyWithoutTriggers();
      await expectRightThroughFold(ALL);
    });

    it('without them, into one that has folded since: a rebuild mends it', async () => {
      await dataSource.query(`insert into time_logs ${logsFrom(9000, 1)}`);
      await fold();
      await superuser.query('truncate time_logs');
      await copyWithoutTriggers();
      expect((await counts.verify()).wrong).toBeGreaterThan(0);
      await counts.rebuild();
      await expectRightThroughFold(ALL);
    });
  });
});

describe('a row of counts from elsewhere', () => {
  const ROWS = {
    time_log_changes: `(sign, total, duration, first_day, last_day, projects, days, durations)
      values (1, 1, 1, '2026-01-31', '2026-01-31', array[gen_random_uuid()], '{2026-01-31}', '{1}')`,
    time_log_months: `values (true, gen_random_uuid(), '2026-01-01', 0, 1, 1, '{1}', '{1}')`,
    time_log_decades: `values (true, gen_random_uuid(), '2020-01-01', 0, 1, 1)`,
    // Folds number their rows without the sequence.
    time_log_folds: `(id, xid, next_xid, in_progress)
      select coalesce(max(id), 0) + 1, 1, 1, array[]::bigint[] from time_log_folds`,
  };
  /** The number of rows that are taken, by the table. */
  const taken = async (runner: QueryRunner) => {
    const found: Record<string, number> = {};
    for (const [table, values] of Object.entries(ROWS)) {
      const rows = () => one<number>(`select count(*)::integer from ${table}`, runner);
      const before = await rows();
      await runner.query(`insert into ${table} ${values}`);
      found[table] = (await rows()) - before;
    }
    return Object.values(found);
  };

  it('is not taken, also in a transaction in which logs were counted', async () => {
    const runner = await begin();
    for (const change of [
      `insert into time_logs ${logsFrom(2000, 10)}`,
      `insert into time_logs ${logsFrom(10_000, 5_000)}`,
      `update time_logs set date = date - 1 where date > '0001-01-01'`,
      'delete from time_logs where duration < 10',
      'select fold_time_log_counts(10000)',
      'select rebuild_time_log_counts()',
    ]) {
      await runner.query(change);
      expect([change, ...(await taken(runner))]).toEqual([change, 0, 0, 0, 0]);
    }
    await runner.query('savepoint here');
    await expect(runner.query(`insert into time_logs ${logsFrom(2000, 10)}`)).rejects.toThrow(/duplicate/);
    await runner.query('rollback to here');
    expect(await taken(runner)).toEqual([0, 0, 0, 0]);
  });

  it('is taken from who says that they count, before and after logs are counted; a change never is', async () => {
    const runner = await begin();
    await runner.query(`set local time_logs.counting = 'on'`);
    await runner.query(`insert into time_logs ${logsFrom(2000, 10)}`);
    await runner.query('select fold_time_log_counts(1)');
    expect(await taken(runner)).toEqual([0, 1, 1, 1]);
  });

  it('hides no change and delays no fold if it is a later fold of another server', async () => {
    await superuser.query(
      `set time_logs.counting = 'on';
       insert into time_log_folds (id, xid, next_xid, in_progress)
       select coalesce(max(id), 0) + 1, pg_current_xact_id()::text::bigint + 1000000,
              pg_snapshot_xmax(pg_current_snapshot())::text::bigint, '{}' from time_log_folds;
       reset time_logs.counting`,
    );
    await expectRight(LOGS);
    expect(await fold()).toBe(LOGS);
    await expectRight(LOGS);
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
  beforeEach(async () => {
    await fold();
    await dataSource.query(`insert into time_logs ${logsFrom(2000, 10)}`);
  });

  it.each([
    ['a month that is missing', `delete from time_log_months where of_all and month = '2026-01-01'`],
    ['a decade that is missing', `delete from time_log_decades where not of_all and decade = '2020-01-01'`],
    ['a total that is wrong', `update time_log_months set total = total + 1`],
    ['a total of a decade that is wrong', `update time_log_decades set total = total + 1`],
    ['a day that is wrong', `update time_log_months set days[7] = 5`],
    ['a sum that is wrong', `update time_log_months set duration = duration + 0.001`],
    ['a sum of a decade that is wrong', `update time_log_decades set duration = duration + 0.001`],
    ['the sum of a day that is wrong', `update time_log_months set durations[7] = 0.5`],
    ['sums that are missing', `update time_log_months set duration = 0, durations = '{}'`],
    ['days that are missing', `update time_log_months set days = '{}'`],
    ['counts of nothing', `update time_log_months set project_id = gen_random_uuid() where not of_all`],
    ['changes that are missing', `delete from time_log_changes`],
    [
      'changes that are there twice',
      `update time_log_changes set total = 2 * total, duration = 2 * duration,
        projects = projects || projects, days = days || days, durations = durations || durations`,
    ],
    [
      'no counts at all',
      `delete from time_log_months; delete from time_log_decades; delete from time_log_changes`,
    ],
  ])('see and mend %s', async (_what, damage) => {
    await dataSource.query(damage);
    const { wrong } = await counts.verify();
    expect(wrong).toBeGreaterThan(0);
    expect(await counts.rebuild()).toBe(wrong);
    await expectRightThroughFold(LOGS + 10);
    // Counts that have become zero leave no rows.
    expect(await one(`select count(*)::integer from time_log_months where total = 0`)).toBe(0);
    expect(await one(`select count(*)::integer from time_log_decades where total = 0`)).toBe(0);
  });

  it('are right while others write and fold', async () => {
    let written = 0;
    const write = () => dataSource.query(`insert into time_logs ${logsFrom(100_000 + written++, 1)}`);
    await whileRepeating([write, write, write, () => fold(50)], async () => {
      for (let round = 0; round < 3; round++) {
        // With the lock of folds: else a fold has deleted or changed the same rows, and one of the two is ended.
        await dataSource.query(
          `select pg_advisory_xact_lock('time_logs'::regclass::oid::integer, -3);
           delete from time_log_months where part = 0 and of_all`,
        );
        await counts.rebuild();
        expect(await counts.verify()).toMatchObject({ wrong: 0 });
      }
    });
    await expectRight(LOGS + 10 + written);
  });
});

describe('what sees too little to keep the counts right', () => {
  const UNDER = ['REPEATABLE READ', 'SERIALIZABLE'] as const;
  const READ_COMMITTED = /set transaction isolation level read committed first/;
  /** Truncates in an open transaction, which waits for a writer. */
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
    await dataSource.query('delete from time_log_changes');
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
    await dataSource.query('delete from time_log_changes');
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

describe('changes that wait', () => {
  const SPREAD = LOGS + WRITERS * 50 + 5_000;

  /** Leaves a change of each writer, and a part. */
  async function spread(): Promise<void> {
    for (const writer of await openWriters()) await writer.commitTransaction();
    await dataSource.query(`insert into time_logs ${logsFrom(50_000, 5_000)}`);
    expect(await waiting()).toBeGreaterThan(WRITERS);
    expect(await parts()).toBeGreaterThan(100);
  }

  it('are folded, whatever they hold, and every count stays', async () => {
    await spread();
    await dataSource.query('delete from time_logs where duration between 10000 and 10200');
    expect(await fold()).toBeGreaterThan(1_000);
    expect([await waiting(), await parts()]).toEqual([0, 0]);
    await expectRight(SPREAD - 101);
    expect(await fold()).toBe(0);
    expect(await one('select count(*)::integer from time_log_folds')).toBe(1);
  });

  it('are folded some at a time, until fewer than may be are', async () => {
    await spread();
    for (let [folded, rounds] = [1_000, 0]; folded >= 1_000; rounds++) {
      folded = await fold(1_000);
      // A fold takes whole changes: one has up to 256 logs.
      expect(folded).toBeLessThan(1_000 + 256);
      expect(rounds).toBeLessThan(100);
      await expectRight(SPREAD);
    }
    expect([await waiting(), await parts()]).toEqual([0, 0]);
  });

  it('are the same sums in an earlier snapshot', async () => {
    await spread();
    const reader = await begin('REPEATABLE READ');
    const total = async () =>
      (await reader.query(
        'select n, duration, (select count(*) from time_log_count_faults()) as wrong from sum_time_logs(null, null, null)',
      )) as unknown;
    const before = await total();
    expect(before).toMatchObject([{ n: String(SPREAD), wrong: '0' }]);
    await dataSource.query('update time_log_folds set next_xid = next_xid');
    await dataSource.query(`insert into time_logs ${logsFrom(100_000, 4_000)}`);
    while ((await fold(1_000)) >= 1_000);
    expect(await total()).toEqual(before);
  });

  it('are seen by a transaction that has written them, also after a fold of others', async () => {
    const writer = await begin();
    await writer.query(`insert into time_logs ${logsFrom(2000, 10)}`);
    await dataSource.query(`insert into time_logs ${logsFrom(3000, 10)}`);
    await fold();
    const total = (source?: Source) => one<string>('select n from sum_time_logs(null, null, null)', source);
    expect(await total(writer)).toBe(String(LOGS + 20));
    expect(await total()).toBe(String(LOGS + 10));
    await writer.query(`insert into time_logs ${logsFrom(4000, 10)}`);
    expect(await total(writer)).toBe(String(LOGS + 30));
    await writer.commitTransaction();
    await expectRight(LOGS + 30);
    expect(await fold()).toBe(20);
    await expectRight(LOGS + 30);
  });

  it('stay counted if a fold takes some in a transaction that has changed logs itself', async () => {
    for (const first of [2000, 3000, 4000])
      await dataSource.query(`insert into time_logs ${logsFrom(first, 10)}`);
    const early = await begin();
    await early.query(`insert into time_logs ${logsFrom(5000, 10)}`);
    const writer = await begin();
    for (const first of [6000, 7000]) await writer.query(`insert into time_logs ${logsFrom(first, 10)}`);
    await fold(1, writer);
    await fold(LOGS + 35, writer);
    await writer.commitTransaction();
    await expectRight(LOGS + 50);
    await early.commitTransaction();
    await expectRightThroughFold(LOGS + 60);
  });

  it('stay counted if some are of a server that is ahead, while folds take a few', async () => {
    await fold();
    await superuser.query(
      `set session_replication_role = replica;
       insert into time_logs ${logsFrom(2000, 10)};
       insert into time_log_changes (xid, sign, total, duration, first_day, last_day, projects, days, durations)
       select pg_current_xact_id()::text::bigint + n - 1996, 1, 1, duration, date, date, array[project_id], array[date], array[duration]
         from (${logsFrom(2000, 10)}) log (id, project_id, n, description, date), lateral (select n as duration) same;
       set session_replication_role = origin;
       delete from time_log_folds`,
    );
    await expectRight(LOGS + 10);
    for (let round = 0; round < 10; round++) {
      await dataSource.query(`insert into time_logs ${logsFrom(3000 + round * 10, 4)}`);
      await dataSource.query(`insert into time_logs ${logsFrom(3004 + round * 10, 4)}`);
      await fold(3);
      await expectRight(LOGS + 10 + (round + 1) * 8);
    }
    await fold();
    expect(await waiting()).toBe(0);
    await expectRight(LOGS + 90);
  });

  it.each(['REPEATABLE READ', 'SERIALIZABLE'] as const)(
    'make a fold under %s fail if its snapshot does not contain the last fold',
    async (level) => {
      await fold();
      const late = await begin(level);
      await late.query('select 1');
      await dataSource.query(`insert into time_logs ${logsFrom(2000, 10)}`);
      await fold();
      await expect(fold(1_000, late)).rejects.toMatchObject({ code: '40001' });
      await late.rollbackTransaction();
      await expectRight(LOGS + 10);
    },
  );

  it('are left by a fold during another one, and nobody waits', async () => {
    await spread();
    const holder = await begin();
    await holder.query(`insert into time_logs ${logsFrom(20_000, 1)}`);
    const [folder, other, writer] = [await begin(), await begin(), await begin()];
    for (const session of [folder, other, writer]) await session.query(WITHOUT_WAITING);
    expect(await fold(undefined, folder)).toBeGreaterThan(0);
    expect(await fold(undefined, other)).toBe(0);
    // Before the fold is committed.
    await writer.query(`insert into time_logs ${logsFrom(30_000, 50)}`);
    for (const session of [writer, folder, other, holder]) await session.commitTransaction();
    await expectRight(SPREAD + 51);
    expect(await fold()).toBe(51);
    await expectRight(SPREAD + 51);
  });

  it('are folded during an open rebuild, without waiting for it', async () => {
    await fold();
    await dataSource.query(`insert into time_logs ${logsFrom(2000, 10)}`);
    for (const end of ['rollback', 'commit']) {
      const rebuilder = await begin();
      await rebuilder.query('select rebuild_time_log_counts()');
      const folder = await begin();
      await folder.query(WITHOUT_WAITING);
      expect(await fold(1_000_000, folder)).toBe(10);
      await folder.commitTransaction();
      await expectRight(LOGS + (end === 'commit' ? 20 : 10));
      await rebuilder.query(end);
      if (end === 'rollback') await dataSource.query(`insert into time_logs ${logsFrom(3000, 10)}`);
    }
    await expectRight(LOGS + 20);
  });

  it('are not folded during a truncate, which would not see moved rows', async () => {
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
    for (const table of ['changes', 'months', 'decades'])
      expect([table, await one(`select count(*)::integer from time_log_${table}`)]).toEqual([table, 0]);
  });

  it('leave no row when all logs of a month or decade are gone', async () => {
    await fold();
    const rows = () =>
      dataSource.query<object[]>(`select of_all, project_id, month from time_log_months
        union all select of_all, project_id, decade from time_log_decades order by 1, 2, 3`);
    const before = await rows();
    await dataSource.query(
      `insert into time_logs select id, gen_random_uuid(), 1.5, '', date '1001-01-01' + (duration::integer - 2000)
         from (${logsFrom(2000, 200)}) log (id, project_id, duration)`,
    );
    await fold();
    expect(await rows()).not.toEqual(before);
    await dataSource.query('delete from time_logs where duration = 1.5');
    await fold();
    expect(await rows()).toEqual(before);
  });
});

it('a sum is of one moment, also during a fold', async () => {
  const [holder, reader] = [await begin(), await begin()];
  await holder.query('select pg_advisory_xact_lock(1)');
  const text = await one<string>(`pg_get_functiondef('waiting_time_log_changes()'::regprocedure)`, reader);
  const query = /AS \$function\$([^]*)\$function\$/.exec(text)![1]!;
  await reader.query(
    `create or replace function waiting_time_log_changes() returns setof time_log_changes stable language plpgsql as
     $$ begin perform pg_advisory_xact_lock_shared(1); return query ${query}; end $$`,
  );
  const sum = one<string>('select n from sum_time_logs(null, null, null)', reader);
  await untilWaiting(dataSource);
  expect(await fold()).toBe(LOGS);
  await holder.commitTransaction();
  expect(await sum).toBe(String(LOGS));
});

it('the migration of version 0.3 counts logs that come and change meanwhile, and waits for their transactions', async () => {
  const other = await createTestDatabase();
  const { url } = other;
  const old = await new DataSource({ ...plainOptions(url), poolSize: 4 }).initialize();
  try {
    await loadVersion03(other);
    const stored = await one<number>('select count(*)::integer from time_logs', old);
    const runner = await begin('READ COMMITTED', old);
    await runner.query(`insert into time_logs ${logsFrom(1, 10)}`);
    const migrated = migrate({ url, migrations });
    await untilWaiting(old);
    await runner.commitTransaction();
    let written = 0;
    const write = async () => {
      await old.query(`insert into time_logs ${logsFrom(100_000 + written, 1)}`);
      written += 1;
      await old.query(`update time_logs set duration = 0.1 where duration = ${written}`);
    };
    await whileRepeating([write], () => migrated);
    await database.endTransactions();
    const right = { logs: stored + 10 + written, wrong: 0 };
    const ofOld = new TimeLogCountsCheck(new Database(old));
    expect(await ofOld.verify()).toEqual(right);
    await fold(undefined, old);
    expect(await ofOld.verify()).toEqual(right);
  } finally {
    await old.destroy();
    await other.drop();
  }
});
