import { dirname } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { migrations } from '../../../src/app.module.js';
import { migrate } from '../../../src/database/setup/index.js';
import { addRows, withSql } from '../../support/backup-rows.js';
import { eventually } from '../../support/eventually.js';
import { connected, firstColumn, queryOnce } from '../../support/postgres-cluster.js';
import { runHere } from '../../support/service-here.js';
import { everything, loadVersion03 } from '../../upgrade/version-0-3.js';
import { serve } from './support/service-under-writes.js';
import { useCluster, useLossyProxy } from './support/use-cluster.js';

const server = useCluster({ wal_level: 'logical' });
const fold = (url: string) => firstColumn(url, 'select fold_time_log_counts(8192)');
const foldAll = async (url: string, afterEach = () => Promise.resolve()) => {
  while (Number(await fold(url)) > 0) await afterEach();
};
const createMigrated = async (on = server) => {
  const url = await on.createDatabase();
  await migrate({ url, migrations });
  return url;
};
const expectCounts = async (url: string, outcome: object) =>
  expect(await runHere('counts', ['verify'], { DATABASE_URL: url })).toMatchObject(outcome);

describe('counts and sums are true', () => {
  let url: string;
  let logs: number;

  beforeEach(async () => {
    url = await createMigrated();
    logs = 0;
    await write(500);
  });

  const write = async (more: number) => {
    await withSql(url, (sql) => addRows(sql, logs + 1, logs + more));
    logs += more;
  };
  const wrong = () => firstColumn(url, 'select count(*)::int from time_log_count_faults()');
  const unfolded = () =>
    queryOnce(
      url,
      `select (select count(*)::int from time_log_changes) as changes,
              exists (select from time_log_months where part > 0) as "hasParts"`,
    );
  const expectTruth = () => expectCounts(url, { stdout: `the counts are correct: ${logs} logs\n` });

  it.each([
    ...['time_log_changes', 'time_log_months', 'time_log_decades', 'time_log_folds'].map((table) => [
      'fold_time_log_counts(8192)',
      table,
    ]),
    ...['time_log_months', 'time_log_decades', 'time_log_folds'].map((table) => [
      'rebuild_time_log_counts()',
      table,
    ]),
  ])('when %s is ended while it changes %s', async (act, table) => {
    await write(5_000);
    await queryOnce(url, 'select fold_time_log_counts(50)');
    const isRebuild = act.startsWith('rebuild');
    if (isRebuild) {
      for (const wrongTable of ['time_log_months', 'time_log_decades'])
        await queryOnce(url, `update ${wrongTable} set total = total + 1 where of_all`);
    }
    const before = [await wrong(), await unfolded()];
    // The function waits for this lock when it changes its first row.
    await queryOnce(
      url,
      `create function wait_here() returns trigger language plpgsql as
         'begin perform pg_advisory_xact_lock_shared(1); return coalesce(new, old); end';
       create trigger wait_here before insert or update or delete on ${table} for each row execute function wait_here()`,
    );
    const [holder, worker] = [await connected(url), await connected(url)];
    try {
      await holder.query('select pg_advisory_lock(1)');
      const { rows } = await worker.query<{ pid: number }>('select pg_backend_pid() as pid');
      const outcome = worker.query(`select ${act}`).then(
        () => 'done',
        () => 'ended',
      );
      await eventually(async () =>
        expect(
          await queryOnce(url, `select from pg_locks where pid = $1 and not granted`, [rows[0]!.pid]),
        ).toHaveLength(1),
      );
      await queryOnce(url, 'select pg_terminate_backend($1)', [rows[0]!.pid]);
      expect(await outcome).toBe('ended');
    } finally {
      await Promise.allSettled([holder.end(), worker.end()]);
    }
    await queryOnce(url, `drop trigger wait_here on ${table}`);
    expect([await wrong(), await unfolded()]).toEqual(before);
    if (isRebuild) await queryOnce(url, 'select rebuild_time_log_counts()');
    await expectTruth();
    await foldAll(url);
    expect(await unfolded()).toEqual([{ changes: 0, hasParts: false }]);
    await expectTruth();
  });
});

const FUNCTIONS = `select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace order by 1`;
const RUN = 'select name from migrations order by timestamp';
const NAMES = migrations
  .map((Migration) => new Migration().name)
  .sort((one, other) => Number(one.slice(-13)) - Number(other.slice(-13)));

describe('migrations whose database is lost', () => {
  const proxy = useLossyProxy(server);

  it.each([false, true])(
    'are whole when they are run again, of a database of version 0.3: %p',
    async (isOld) => {
      const url = await server.createDatabase();
      if (isOld) await loadVersion03({ url, superuserUrl: server.asSuperuser(url) });
      const stored = () => withSql(url, (sql) => everything(sql));
      const before = isOld ? await stored() : undefined;
      const run = isOld ? await firstColumn(url, RUN) : [];
      for (const name of NAMES.filter((each) => !run.includes(each)))
        for (const lost of ['statement', 'answer'] as const) {
          const isLost = proxy.lose(name, { lost, by: 'reset' });
          await expect(migrate({ url: proxy.url(url), migrations })).rejects.toThrow();
          await isLost;
          const done = await firstColumn(url, RUN).catch((): unknown[] => []);
          expect(done.includes(name)).toBe(lost === 'answer');
        }
      expect(await migrate({ url, migrations })).toEqual([]);
      if (isOld) expect(await stored()).toEqual(before);
      await withSql(url, (sql) => addRows(sql, 1, 10));
      await expectCounts(url, { code: 0 });
      expect(await firstColumn(url, FUNCTIONS)).toEqual(await firstColumn(await createMigrated(), FUNCTIONS));
      expect(await firstColumn(url, RUN)).toEqual(expect.arrayContaining(NAMES));
    },
  );
});

const TABLES = [
  ...['time_logs', 'time_log_keys', 'time_log_deletions', 'time_log_relays', 'access_tokens'],
  ...['time_log_months', 'time_log_decades', 'time_log_changes', 'time_log_folds'],
];
const WAITING = 'select id from time_log_changes order by xid, id';
/** Inserts logs by one statement. */
const insertion = (logs: number) =>
  `insert into time_logs (id, project_id, duration, description, date)
   select overlay(gen_random_uuid()::text placing '7' from 15)::uuid, '0a000000-0000-4000-8000-000000000001', 0.1, '',
          date '2026-01-31' + n % 40 from generate_series(1, ${logs}) n`;

/**
 * All tables of a service are published, and another server subscribes to them, on which nobody else writes. PostgreSQL
 * applies the changes row by row, and runs no triggers on statements there (Logical Replication, Architecture).
 */
describe('a logical replica', () => {
  const other = useCluster({ wal_level: 'logical' });
  let source: string;
  let replica: string;

  beforeEach(async () => {
    source = server.asSuperuser(await createMigrated());
    replica = server.asSuperuser(await createMigrated(other));
  });

  const expectTrueCounts = async () =>
    expect(await queryOnce(replica, 'select * from time_log_count_faults()')).toEqual([]);

  it.each([
    ['ahead of', () => [source, replica] as const],
    ['behind', () => [replica, source] as const],
  ])(
    'has true counts at every moment, and folds none before it takes the place of a source that is %s it',
    async (where, servers) => {
      // The next transactions of one server have higher numbers than those of the other.
      const [ahead, behind] = servers();
      const [next] = await firstColumn(behind, 'select pg_current_xact_id()::text::bigint + 2000');
      await queryOnce(
        ahead,
        `do $$ begin while pg_current_xact_id()::text::bigint < ${String(next)} loop commit; end loop; end $$`,
      );
      await queryOnce(source, insertion(500));
      await fold(source);
      const name = `logs_${where.replace(' ', '_')}`;
      await queryOnce(source, `create publication ${name} for table ${TABLES.join()}`);
      await queryOnce(
        replica,
        `create subscription ${name} connection 'host=${dirname(server.socket)} user=postgres dbname=${new URL(source).pathname.slice(1)}'
           publication ${name}`,
      );
      await eventually(async () =>
        expect(await queryOnce(replica, `select from pg_subscription_rel where srsubstate <> 'r'`)).toEqual(
          [],
        ),
      );
      for (let round = 0; round < 20; round++) {
        await queryOnce(source, insertion(12));
        await queryOnce(
          source,
          'update time_logs set duration = 2 where id in (select id from time_logs limit 4)',
        );
        await queryOnce(
          source,
          'delete from time_logs where id in (select max(id::text)::uuid from time_logs)',
        );
        await expectTrueCounts();
      }
      // More than one fold takes, by one statement each.
      for (const logs of [4_000, 4_000, 5_000]) await queryOnce(source, insertion(logs));
      await eventually(async () =>
        expect(await firstColumn(replica, WAITING)).toEqual(await firstColumn(source, WAITING)),
      );
      expect(await fold(replica)).toEqual([0]);
      expect(await firstColumn(replica, WAITING)).toEqual(await firstColumn(source, WAITING));
      // The replica takes the place of the source: nobody writes there any more.
      await queryOnce(replica, `drop subscription ${name}`);
      await expectTrueCounts();
      // Positions of the feed move before anybody writes by SQL.
      await serve(replica);
      await queryOnce(replica, `begin; ${insertion(4_000)}; ${insertion(4_000)}; commit`);
      await queryOnce(replica, insertion(5_000));
      await foldAll(replica, expectTrueCounts);
      await expectTrueCounts();
      expect(await firstColumn(replica, WAITING)).toEqual([]);
      // The fold of this server is the one that readers go by.
      expect(
        await queryOnce(replica, 'select from time_log_folds where xmin::text = xid::text'),
      ).toHaveLength(1);
    },
  );
});
