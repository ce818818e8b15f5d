import { beforeEach, describe, expect, it } from '@jest/globals';
import { migrations } from '../../../src/app.module.js';
import { migrate } from '../../../src/database/setup/index.js';
import { addRows, withSql } from '../../support/backup-rows.js';
import { runHere } from '../../support/service-here.js';
import { connected, firstColumn, queryOnce } from '../../support/postgres-cluster.js';
import { eventually } from '../../support/eventually.js';
import { useCluster, useLossyProxy } from './support/use-cluster.js';
import { everything, loadVersion03 } from '../../upgrade/version-0-3.js';

const server = useCluster();
/** The number of waiting changes after all folds. */
const FOLDED = { changes: 0, hasParts: false };

describe('counts and sums are true', () => {
  let url: string;
  let logs: number;

  beforeEach(async () => {
    url = await server.createDatabase();
    await migrate({ url, migrations });
    logs = 0;
    await write(500);
  });

  const write = async (more: number) => {
    await withSql(url, (sql) => addRows(sql, logs + 1, logs + more));
    logs += more;
  };
  const wrong = async () => (await firstColumn(url, 'select count(*)::int from time_log_count_faults()'))[0];
  const unfolded = async () => {
    const sql = `select (select count(*)::int from time_log_changes) as changes,
                        exists (select from time_log_months where part > 0) as "hasParts"`;
    return (await queryOnce(url, sql))[0];
  };
  const expectTruth = async () =>
    expect(await runHere('counts', ['verify'], { DATABASE_URL: url })).toMatchObject({
      stdout: `the counts are correct: ${logs} logs\n`,
    });

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
    while ((await queryOnce(url, 'select where fold_time_log_counts(8192) > 0')).length > 0);
    expect(await unfolded()).toEqual(FOLDED);
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
      expect(await runHere('counts', ['verify'], { DATABASE_URL: url })).toMatchObject({ code: 0 });
      const fresh = await server.createDatabase();
      await migrate({ url: fresh, migrations });
      expect(await firstColumn(url, FUNCTIONS)).toEqual(await firstColumn(fresh, FUNCTIONS));
      expect(await firstColumn(url, RUN)).toEqual(expect.arrayContaining(NAMES));
    },
  );
});
