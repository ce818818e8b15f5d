import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource, type QueryRunner } from 'typeorm';
import { migrations } from '../../src/app.module.js';
import { Database } from '../../src/database/index.js';
import { migrate, plainOptions } from '../../src/database-setup/index.js';
import { TimeLogCounts } from '../../src/time-log/index.js';
import { createMigratedDatabase, createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** Logs of three projects, from a number on: some days in every century, and two that are crowded. */
const logsFrom = (first: number, count: number) => `
  select ('019c1370-4e1b-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
         ('00000000-0000-0000-0000-' || lpad((n % 3)::text, 12, '0'))::uuid, n, '',
         case n % 4 when 0 then date '2026-01-31' when 1 then date '2026-02-01'
                    else date '0001-01-01' + (n::bigint * 7919 % 3652059)::integer end
    from generate_series(${first}, ${first + count - 1}) n`;

let database: TestDatabase;
let dataSource: DataSource;
/** For what takes the rights of a superuser: files of the server, and other roles. */
let superuser: DataSource;
let counts: TimeLogCounts;

beforeAll(async () => {
  database = await createMigratedDatabase();
  dataSource = await new DataSource({ ...plainOptions(database.url), poolSize: 20 }).initialize();
  superuser = await new DataSource({ ...plainOptions(database.superuserUrl), poolSize: 1 }).initialize();
  counts = new TimeLogCounts(new Database(dataSource));
});
beforeEach(async () => {
  await dataSource.query('truncate time_logs');
  await dataSource.query(`insert into time_logs ${logsFrom(1, 1000)}`);
});
afterAll(async () => {
  await dataSource.destroy();
  await superuser.destroy();
  await database.drop();
});

/** A session of its own, within a transaction that the act may leave open. */
async function inTransaction(
  act: (runner: QueryRunner) => Promise<void>,
  source: DataSource = dataSource,
): Promise<void> {
  const runner = source.createQueryRunner();
  try {
    await act(runner);
  } finally {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    await runner.release();
  }
}

describe('counts and sums are right', () => {
  it.each([
    ['an insert of nothing', `insert into time_logs ${logsFrom(2000, 0)}`, 1000],
    ['an insert of one', `insert into time_logs ${logsFrom(2000, 1)}`, 1001],
    ['an insert of many', `insert into time_logs ${logsFrom(2000, 5000)}`, 6000],
    [
      'an insert that skips what is there',
      `insert into time_logs ${logsFrom(1, 1010)} on conflict do nothing`,
      1010,
    ],
    [
      'an insert that changes what is there',
      `insert into time_logs ${logsFrom(1, 1010)} on conflict (id) do update set date = '1999-12-31'`,
      1010,
    ],
    ['an update of dates', `update time_logs set date = date - 1 where date > '0001-01-01'`, 1000],
    ['an update of projects', `update time_logs set project_id = gen_random_uuid()`, 1000],
    ['an update of durations alone', `update time_logs set duration = 2`, 1000],
    ['an update of nothing', `update time_logs set description = 'other'`, 1000],
    ['a delete of some', `delete from time_logs where duration <= 400`, 600],
    ['a delete of all', `delete from time_logs`, 0],
    ['a truncate', `truncate time_logs`, 0],
    [
      'a merge',
      `merge into time_logs t using (${logsFrom(1, 10)}) s (id) on t.id = s.id when matched then delete`,
      990,
    ],
  ])('after %s', async (_what, sql, logs) => {
    await dataSource.query(sql);
    expect(await counts.verify()).toEqual({ logs, wrong: 0 });
  });

  it('after a transaction that is rolled back, whole or in part', async () => {
    await inTransaction(async (runner) => {
      await runner.startTransaction();
      await runner.query(`insert into time_logs ${logsFrom(2000, 10)}`);
      await runner.query('savepoint here');
      await runner.query(`insert into time_logs ${logsFrom(3000, 10)}`);
      await runner.query('rollback to here');
      await runner.query(`insert into time_logs ${logsFrom(4000, 10)}`);
      await runner.commitTransaction();
      await runner.startTransaction();
      await runner.query('delete from time_logs');
      await runner.rollbackTransaction();
    });
    expect(await counts.verify()).toEqual({ logs: 1020, wrong: 0 });
  });

  it('after a copy, and after the restore of a dump of data alone, which holds the counts too', async () => {
    const settings = await superuser.query<{ folder: string }[]>(
      `select current_setting('data_directory') as folder`,
    );
    const file = (table: string) =>
      `'${settings[0]!.folder}/${database.url.split('/').at(-1)?.split('?')[0]}.${table}'`;
    const tables = ['time_log_counts', 'time_logs'];
    for (const table of tables) await superuser.query(`copy ${table} to ${file(table)}`);
    await superuser.query('truncate time_logs');
    for (const table of tables) await superuser.query(`copy ${table} from ${file(table)}`);
    expect(await counts.verify()).toEqual({ logs: 1000, wrong: 0 });
    // As pg_restore does it with --disable-triggers.
    await inTransaction(async (runner) => {
      await runner.query('truncate time_logs');
      await runner.query('set session_replication_role = replica');
      for (const table of tables) await runner.query(`copy ${table} from ${file(table)}`);
      await runner.query('reset session_replication_role');
    }, superuser);
    expect(await counts.verify()).toEqual({ logs: 1000, wrong: 0 });
  });

  it('for a role that may do no more than write logs', async () => {
    await superuser.query('create role log_writer');
    await inTransaction(async (runner) => {
      await runner.startTransaction();
      await runner.query('grant insert, delete on time_logs to log_writer');
      await runner.query('grant select (id) on time_logs to log_writer');
      await runner.query('set local role log_writer');
      await runner.query(`insert into time_logs ${logsFrom(2000, 10)}`);
      await runner.query(`delete from time_logs where id = '019c1370-4e1b-7000-8000-000000000001'`);
      await runner.query('reset role');
      await runner.commitTransaction();
    }, superuser);
    await superuser.query('drop owned by log_writer; drop role log_writer');
    expect(await counts.verify()).toEqual({ logs: 1009, wrong: 0 });
  });
});

describe('a row of counts from elsewhere', () => {
  const foreign = `insert into time_log_counts values (true, gen_random_uuid(), 4096, '2026-01-31', 0, 1, null, 1)`;
  const rows = async (source: DataSource | QueryRunner) =>
    (
      (await source.query('select count(*)::integer as count from time_log_counts')) as { count: number }[]
    )[0]!.count;

  it('is not taken, also in a transaction in which logs were counted', async () => {
    await inTransaction(async (runner) => {
      await runner.startTransaction();
      for (const change of [
        `insert into time_logs ${logsFrom(2000, 10)}`,
        `update time_logs set date = date - 1 where date > '0001-01-01'`,
        'delete from time_logs where duration < 10',
        'select rebuild_time_log_counts()',
      ]) {
        await runner.query(change);
        const before = await rows(runner);
        await runner.query(foreign);
        expect(await rows(runner)).toBe(before);
      }
      await runner.query('savepoint here');
      await expect(runner.query(`insert into time_logs ${logsFrom(2000, 10)}`)).rejects.toThrow(/duplicate/);
      await runner.query('rollback to here');
      const before = await rows(runner);
      await runner.query(foreign);
      expect(await rows(runner)).toBe(before);
    });
  });

  it('is taken from who says that they count, before and after logs are counted', async () => {
    await inTransaction(async (runner) => {
      await runner.startTransaction();
      await runner.query(`set local time_logs.counting = 'on'`);
      await runner.query(`insert into time_logs ${logsFrom(2000, 10)}`);
      const before = await rows(runner);
      await runner.query(foreign);
      expect(await rows(runner)).toBe(before + 1);
    });
  });
});

describe('transactions that write at the same time', () => {
  it('never wait for one another', async () => {
    const sessions = Array.from({ length: 12 }, () => dataSource.createQueryRunner());
    // Every one writes to the same days, while all before it are still open.
    for (const [index, session] of sessions.entries()) {
      await session.startTransaction();
      await session.query(`set local lock_timeout = '1ms'`);
      await session.query(`insert into time_logs ${logsFrom(10_000 + 100 * index, 50)}`);
    }
    for (const [index, session] of sessions.reverse().entries()) {
      await session.query(`insert into time_logs ${logsFrom(20_000 + 100 * index, 50)}`);
      await session.query(`delete from time_logs where duration = ${index + 1}`);
      await session.commitTransaction();
      await session.release();
    }
    expect(await counts.verify()).toEqual({ logs: 1000 + 12 * 100 - 12, wrong: 0 });
  });

  it('keep the counts right while logs come, go and move in many sessions', async () => {
    await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        for (let round = 0; round < 25; round++) {
          const first = 100_000 * (writer + 1) + round * 100;
          await dataSource.query(`insert into time_logs ${logsFrom(first, 20)}`);
          await dataSource.query(`update time_logs set date = '2026-03-01' where duration = ${first}`);
          await dataSource.query(`delete from time_logs where duration = ${first + 1}`);
        }
      }),
    );
    expect(await counts.verify()).toEqual({ logs: 1000 + 8 * 25 * 19, wrong: 0 });
  });
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
    expect(await counts.verify()).toEqual({ logs: 1000, wrong: 0 });
  });

  it('are right while others write', async () => {
    let isWriting = true;
    let written = 0;
    const writer = async (first: number) => {
      while (isWriting) {
        await dataSource.query(
          `insert into time_logs ${logsFrom(first + written, 1)} on conflict do nothing`,
        );
        written += 1;
      }
    };
    const writers = [writer(100_000), writer(200_000), writer(300_000)];
    for (let round = 0; round < 5; round++) {
      // With the slot taken: else a writer in it has the same rows in another order, and one of the two is ended.
      await dataSource.query(
        `select pg_advisory_xact_lock('time_logs'::regclass::oid::integer, 0);
         delete from time_log_counts where slot = 0 and width = 32`,
      );
      await counts.rebuild();
      expect(await counts.verify()).toMatchObject({ wrong: 0 });
    }
    isWriting = false;
    await Promise.all(writers);
    expect(await counts.verify()).toMatchObject({ wrong: 0 });
  });
});

/** Waits until the session of this runner waits for a lock. */
async function untilWaiting(runner: QueryRunner, pid: number): Promise<void> {
  for (let isWaiting = false; !isWaiting;) {
    const [row] = (await runner.query('select wait_event_type from pg_stat_activity where pid = $1', [
      pid,
    ])) as {
      wait_event_type: string | null;
    }[];
    isWaiting = row?.wait_event_type === 'Lock';
  }
}

describe('what sees too little to keep the counts right', () => {
  const UNDER = ['REPEATABLE READ', 'SERIALIZABLE'] as const;
  const READ_COMMITTED = /set transaction isolation level read committed first/;

  it('is one of two rebuilds at once: it fails, and says why', async () => {
    await dataSource.query('delete from time_log_counts');
    await inTransaction(async (first) => {
      await first.startTransaction();
      await first.query('select rebuild_time_log_counts()');
      await expect(counts.rebuild()).rejects.toThrow(
        'another rebuild of the counts of time logs is under way: wait for its end',
      );
      await first.commitTransaction();
    });
    expect(await counts.verify()).toEqual({ logs: 1000, wrong: 0 });
    expect(await counts.rebuild()).toBe(0);
  });

  it.each(UNDER)('is a rebuild under %s: it fails, for it may not see the one before', async (isolation) => {
    await dataSource.query('delete from time_log_counts');
    await inTransaction(async (runner) => {
      await runner.startTransaction(isolation);
      await runner.query('select 1');
      await counts.rebuild();
      await expect(runner.query('select rebuild_time_log_counts()')).rejects.toThrow(READ_COMMITTED);
    });
    expect(await counts.verify()).toEqual({ logs: 1000, wrong: 0 });
  });

  it.each(UNDER)('is a truncate under %s that waits for a writer: it fails', async (isolation) => {
    await dataSource.query('truncate time_logs');
    await inTransaction(async (truncating) => {
      const [{ pid }] = (await truncating.query('select pg_backend_pid() as pid')) as [{ pid: number }];
      await truncating.startTransaction(isolation);
      await truncating.query('select 1');
      await inTransaction(async (writer) => {
        await writer.startTransaction();
        await writer.query(`insert into time_logs ${logsFrom(1, 10)}`);
        const truncated = truncating.query('truncate time_logs').then(
          () => undefined,
          (error: unknown) => error,
        );
        await untilWaiting(writer, pid);
        await writer.commitTransaction();
        expect(String(await truncated)).toMatch(READ_COMMITTED);
      });
    });
    expect(await counts.verify()).toEqual({ logs: 10, wrong: 0 });
  });

  it('is not a truncate under read committed that waits for a writer', async () => {
    await dataSource.query('truncate time_logs');
    await inTransaction(async (truncating) => {
      const [{ pid }] = (await truncating.query('select pg_backend_pid() as pid')) as [{ pid: number }];
      await truncating.startTransaction('READ COMMITTED');
      await inTransaction(async (writer) => {
        await writer.startTransaction();
        await writer.query(`insert into time_logs ${logsFrom(1, 10)}`);
        const truncated = truncating.query('truncate time_logs');
        await untilWaiting(writer, pid);
        await writer.commitTransaction();
        await truncated;
      });
      await truncating.commitTransaction();
    });
    expect(await counts.verify()).toEqual({ logs: 0, wrong: 0 });
  });

  it('is not a rebuild that waits for a truncate', async () => {
    await inTransaction(async (rebuilding) => {
      const [{ pid }] = (await rebuilding.query('select pg_backend_pid() as pid')) as [{ pid: number }];
      await inTransaction(async (truncating) => {
        await truncating.startTransaction('READ COMMITTED');
        await truncating.query('truncate time_logs');
        const rebuilt = rebuilding.query('select rebuild_time_log_counts() as wrong');
        await untilWaiting(truncating, pid);
        await truncating.commitTransaction();
        expect(await rebuilt).toEqual([{ wrong: '0' }]);
      });
    });
    expect(await counts.verify()).toEqual({ logs: 0, wrong: 0 });
  });
});

describe('slots that many transactions at once have begun', () => {
  const SESSIONS = 12;

  /** Leaves counts in so many slots: every session writes while all before it are still open. */
  async function spread(): Promise<void> {
    const sessions = Array.from({ length: SESSIONS }, () => dataSource.createQueryRunner());
    for (const [index, session] of sessions.entries()) {
      await session.startTransaction();
      await session.query(`insert into time_logs ${logsFrom(10_000 + 100 * index, 50)}`);
    }
    for (const session of sessions) {
      await session.commitTransaction();
      await session.release();
    }
  }
  const slots = async () =>
    (await dataSource.query<{ slot: number }[]>('select distinct slot from time_log_counts order by 1')).map(
      ({ slot }) => slot,
    );
  const fold = async (most: number, source: DataSource | QueryRunner = dataSource) =>
    ((await source.query('select fold_time_log_counts($1) as folded', [most])) as [{ folded: number }])[0]
      .folded;
  const LOGS = 1000 + SESSIONS * 50;

  it('are folded into the first, whatever they hold, and every count stays', async () => {
    await spread();
    await dataSource.query('delete from time_logs where duration between 10000 and 10200');
    expect(await slots()).toEqual(Array.from({ length: SESSIONS }, (_, slot) => slot));
    expect(await fold(1_000_000)).toBeGreaterThan(1000);
    expect(await slots()).toEqual([0]);
    expect(await counts.verify()).toEqual({ logs: LOGS - 101, wrong: 0 });
    expect(await fold(1_000_000)).toBe(0);
  });

  it('are folded some rows at a time, until fewer than may be are', async () => {
    await spread();
    for (let folded = 300; folded === 300;) {
      folded = await fold(300);
      expect(folded).toBeLessThanOrEqual(300);
      expect(await counts.verify()).toEqual({ logs: LOGS, wrong: 0 });
    }
    expect(await slots()).toEqual([0]);
  });

  it('are the same sums in a snapshot of before', async () => {
    await spread();
    await inTransaction(async (reader) => {
      const total = async () =>
        (await reader.query(
          `select time_logs_since(null, '0001-01-01'), count(*) from time_log_count_differences()`,
        )) as unknown;
      await reader.startTransaction('REPEATABLE READ');
      const before = await total();
      await fold(1_000_000);
      expect(await total()).toEqual(before);
    });
  });

  it('are passed over while a transaction holds them, and nobody waits', async () => {
    await spread();
    await inTransaction(async (first) => {
      await first.startTransaction();
      await first.query(`insert into time_logs ${logsFrom(20_000, 1)}`);
      await inTransaction(async (second) => {
        await second.startTransaction();
        await second.query(`insert into time_logs ${logsFrom(20_001, 1)}`);
        await inTransaction(async (folder) => {
          await folder.startTransaction();
          await folder.query(`set local lock_timeout = '1ms'`);
          await fold(1_000_000, folder);
          // Before the fold is committed: whoever writes takes a slot that it does not hold.
          await inTransaction(async (writer) => {
            await writer.startTransaction();
            await writer.query(`set local lock_timeout = '1ms'`);
            await writer.query(`insert into time_logs ${logsFrom(30_000, 50)}`);
            await writer.commitTransaction();
          });
          await folder.commitTransaction();
        });
        await second.commitTransaction();
      });
      await first.commitTransaction();
    });
    // Those that were held, the one in between, and the one of the writer.
    expect(await slots()).toEqual([0, 1, 2, SESSIONS]);
    expect(await counts.verify()).toEqual({ logs: LOGS + 52, wrong: 0 });
    await fold(1_000_000);
    expect(await slots()).toEqual([0]);
  });

  it('are right at every moment while others write, fold and read', async () => {
    let isWriting = true;
    let written = 0;
    const writer = async (first: number) => {
      for (let round = 0; round < 25; round++) {
        await dataSource.query(`insert into time_logs ${logsFrom(first + 100 * round, 20)}`);
        await dataSource.query(
          `update time_logs set date = '2026-03-01' where duration = ${first + 100 * round}`,
        );
        await dataSource.query(`delete from time_logs where duration = ${first + 100 * round + 1}`);
        written += 19;
      }
    };
    const folder = async () => {
      while (isWriting) await fold(50);
    };
    const reader = async () => {
      while (isWriting) expect(await counts.verify()).toMatchObject({ wrong: 0 });
    };
    const others = [folder(), folder(), reader(), reader()];
    await Promise.all(Array.from({ length: 8 }, (_, index) => writer(100_000 * (index + 1))));
    isWriting = false;
    await Promise.all(others);
    expect(await counts.verify()).toEqual({ logs: 1000 + written, wrong: 0 });
  });

  it('are not folded beside a truncate, which would not see what is moved', async () => {
    await spread();
    await inTransaction(async (truncating) => {
      await truncating.startTransaction();
      await truncating.query('truncate time_logs');
      expect(await fold(1_000_000)).toBe(0);
      await truncating.rollbackTransaction();
      const [{ pid }] = (await truncating.query('select pg_backend_pid() as pid')) as [{ pid: number }];
      await inTransaction(async (folder) => {
        await folder.startTransaction();
        await fold(10, folder);
        const truncated = truncating.query('truncate time_logs');
        await untilWaiting(folder, pid);
        await folder.commitTransaction();
        await truncated;
      });
    });
    expect(await counts.verify()).toEqual({ logs: 0, wrong: 0 });
  });
});

describe('the migrations', () => {
  const upTo = (name: string) => migrations.findIndex((migration) => migration.name.startsWith(name));

  it.each([
    ['came to be', upTo('CreateTimeLogCounts')],
    ['had sums beside them', upTo('AddDurationSums')],
  ])(
    'count and sum the logs of before counts %s, and those that come and change meanwhile',
    async (_what, first) => {
      const before = await createTestDatabase();
      const old = await new DataSource({ ...plainOptions(before.url), poolSize: 4, migrations }).initialize();
      try {
        await migrate({ url: before.url, migrations: migrations.slice(0, first) });
        await old.query(`insert into time_logs ${logsFrom(1, 5_000)}`);
        let isDone = false;
        let written = 0;
        const writer = async () => {
          while (!isDone) {
            await old.query(`insert into time_logs ${logsFrom(100_000 + written, 1)}`);
            written += 1;
            await old.query(`update time_logs set duration = 0.1 where duration = ${written}`);
          }
        };
        const writing = writer();
        await migrate({ url: before.url, migrations });
        isDone = true;
        await writing;
        expect(await new TimeLogCounts(new Database(old)).verify()).toEqual({
          logs: 5_000 + written,
          wrong: 0,
        });
      } finally {
        await old.destroy();
        await before.drop();
      }
    },
  );

  it('wait for who has only counted, before they have all triggers sum', async () => {
    const before = await createTestDatabase();
    const old = await new DataSource({ ...plainOptions(before.url), poolSize: 4, migrations }).initialize();
    try {
      const summing = upTo('KeepDurationSums');
      await migrate({ url: before.url, migrations: migrations.slice(0, summing) });
      await inTransaction(async (runner) => {
        await runner.startTransaction();
        await runner.query(`insert into time_logs ${logsFrom(1, 10)}`);
        const migrated = migrate({ url: before.url, migrations });
        for (let isWaiting = false; !isWaiting;) {
          const waiting = await old.query<unknown[]>(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          );
          isWaiting = waiting.length > 0;
        }
        const done = await old.query<unknown[]>('select name from migrations');
        expect(done).not.toContainEqual({ name: new migrations[summing]!().name });
        await runner.commitTransaction();
        await migrated;
      }, old);
      expect(await new TimeLogCounts(new Database(old)).verify()).toEqual({ logs: 10, wrong: 0 });
    } finally {
      await old.destroy();
      await before.drop();
    }
  });
});
