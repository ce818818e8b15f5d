import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { LossyProxy } from '../support/lossy-proxy.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { connectionOptions, plainOptions } from '../../src/database/setup/index.js';
import { Database, PreparedStatement, TextStatement } from '../../src/database/index.js';
import { DataSource } from 'typeorm';
import { Logger } from '@nestjs/common';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const ISOLATION = `current_setting('transaction_isolation')`;
const unavailable = { code: 'SERVICE_UNAVAILABLE' };
/** The deadline of the connections, in milliseconds. */
const DEADLINE = 1_000;

let database: TestDatabase;
/** The logged lines. */
const lines: string[] = [];
const keep = (line: string) => void lines.push(line);
const opened: DataSource[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(() => {
  lines.length = 0;
  Logger.overrideLogger({ log: keep, warn: keep, error: keep });
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((dataSource) => dataSource.destroy()));
});
afterAll(async () => {
  Logger.overrideLogger(false);
  await database.drop();
});

const open = async (options: ReturnType<typeof plainOptions>) => {
  const dataSource = await new DataSource(options).initialize();
  opened.push(dataSource);
  return dataSource;
};
/** Connects as the service does. */
const serve = (url = database.url, poolSize = 1, deadline = DEADLINE) =>
  open(connectionOptions(url, [], { poolSize, deadline }));
const setDefault = (setting: string, value: string | undefined) =>
  queryOnce(
    database.url,
    `alter database ${database.name} ${value === undefined ? `reset ${setting}` : `set ${setting} = '${value}'`}`,
  );

describe('a session', () => {
  const settings = {
    default_transaction_isolation: 'serializable',
    synchronous_commit: 'off',
    jit: 'on',
    statement_timeout: '1min',
  };
  beforeAll(async () => {
    for (const [name, value] of Object.entries(settings)) await setDefault(name, value);
  });
  afterAll(async () => {
    for (const name of Object.keys(settings)) await setDefault(name, undefined);
  });
  const current = (name: string) => `current_setting('${name}')`;
  const values = [...Object.keys(settings), 'lock_timeout', 'client_connection_check_interval'].map(current);
  const valuesOf = async (dataSource: DataSource) => {
    const [row] = await new Database(dataSource).change(new TextStatement(`select ${values.join()}`));
    return row;
  };

  it('has the settings of the service, whatever those of the database are', async () => {
    expect(await valuesOf(await serve())).toEqual(['read committed', 'on', 'off', '900ms', '600ms', '1s']);
  });

  it('of a command has no limits of time', async () => {
    expect(await valuesOf(await open(plainOptions(database.url)))).toEqual([
      ...['read committed', 'on', 'off', '1min', '0', '0'],
    ]);
  });

  it('has those of its role behind a pooler, and prepares nothing', async () => {
    const url = `${database.url}${database.url.includes('?') ? '&' : '?'}pgbouncer=true`;
    const dataSource = await serve(url);
    expect(await valuesOf(dataSource)).toEqual(['serializable', 'off', 'on', '1min', '0', '0']);
    const prepared = new PreparedStatement('select count(*)::text from pg_prepared_statements');
    expect(await new Database(dataSource).query(prepared)).toEqual([['0']]);
    expect(await new Database(await serve()).query(prepared)).toEqual([['1']]);
  });
});

describe('a change', () => {
  let tables: Database;
  const numbers = async () =>
    (await tables.query<{ n: number }>('select n from numbers order by n')).map(({ n }) => n);

  beforeEach(async () => {
    tables = new Database(await serve());
    await queryOnce(
      database.url,
      `drop table if exists numbers;
       create table numbers (n integer unique deferrable initially deferred check (n > 0));
       insert into numbers values (1), (2)`,
    );
  });

  it('is committed when it resolves, and returns its rows', async () => {
    const inserted = await tables.change('insert into numbers values ($1), ($2) returning n', [3, 4]);
    expect(inserted).toEqual([{ n: 3 }, { n: 4 }]);
    const stored = 'select n from numbers where n > 2 order by n';
    expect(await queryOnce(database.url, stored)).toEqual([3, 4].map((n) => ({ n })));
  });

  it.each([
    ['the statement', '(3), (-1)', '23514'],
    ['the commit', '(3), (1)', '23505'],
  ])('rejects where %s fails, leaves nothing behind, and keeps its connection', async (_what, rows, code) => {
    const backend = await tables.query('select pg_backend_pid()');
    await expect(tables.change(`insert into numbers values ${rows}`)).rejects.toMatchObject({ code });
    expect(await numbers()).toEqual([1, 2]);
    expect(await tables.query('select pg_backend_pid()')).toEqual(backend);
    expect(lines).toEqual([]);
  });

  it('in a transaction of its own is READ COMMITTED, and rolled back if the work has caught an SQL error', async () => {
    const level = tables.transact<unknown>((manager) => manager.query(`select ${ISOLATION} as name`), 5_000);
    expect(await level).toEqual([{ name: 'read committed' }]);
    const caught = tables.transact(async (manager) => {
      await tables.within(manager).change('insert into numbers values (3)');
      await manager.query('select 1 / 0').catch(() => undefined);
    }, 5_000);
    await expect(caught).rejects.toMatchObject({ code: '25P02' });
    expect(await numbers()).toEqual([1, 2]);
  });

  it('in a transaction that takes too long is abandoned with its connection', async () => {
    const late = tables.transact(async (manager) => {
      await tables.within(manager).change('insert into numbers values (3)');
      await new Promise(() => undefined);
    }, 100);
    await expect(late).rejects.toMatchObject(unavailable);
    expect([await numbers(), lines]).toEqual([[1, 2], []]);
  });

  it('that waits for a row is refused after the lock_timeout, and is no outage', async () => {
    const holder = (await open(plainOptions(database.url))).createQueryRunner();
    await holder.query('begin; select from numbers for update');
    await expect(tables.change('delete from numbers')).rejects.toMatchObject({
      ...unavailable,
      cause: { code: '55P03' },
    });
    await holder.query('rollback');
    await holder.release();
    expect([await tables.change('delete from numbers returning n'), lines]).toEqual([
      [{ n: 1 }, { n: 2 }],
      [],
    ]);
  });
});

describe('a connection', () => {
  const { host } = /@(?<host>[^/]+)/.exec(process.env.TEST_DATABASE_URL!)!.groups!;
  const proxy = new LossyProxy(`${decodeURIComponent(host!)}/.s.PGSQL.5432`);
  beforeAll(() => proxy.listen());
  afterAll(() => proxy.close());
  const sleep = `select pg_sleep(30)`;
  const backends = `select pid from pg_stat_activity where datname = current_database() and query = '${sleep}'`;

  it('whose statement the driver has given up is closed, and its backend ends', async () => {
    const dataSource = await serve(proxy.url(database.url));
    const tables = new Database(dataSource);
    // The server would end it first.
    await dataSource.query('set statement_timeout = 0');
    const [before] = await tables.query<{ pid: number }>('select pg_backend_pid() as pid');
    await expect(tables.query(sleep)).rejects.toMatchObject(unavailable);
    const [after] = await tables.query<{ pid: number }>('select pg_backend_pid() as pid');
    expect(after!.pid).not.toBe(before!.pid);
    await eventually(async () => expect(await queryOnce(database.url, backends)).toEqual([]));
    expect(lines).toEqual(['database unavailable: Query read timeout', 'database available again']);
  });

  it('that is lost during a change leaves its outcome unknown', async () => {
    const tables = new Database(await serve(proxy.url(database.url)));
    await queryOnce(database.url, 'create table if not exists outcomes (text text)');
    const isLost = proxy.lose('unknown', { lost: 'answer', by: 'reset' });
    const change = tables.change('insert into outcomes values ($1)', ['unknown']);
    await expect(change).rejects.toMatchObject(unavailable);
    await isLost;
    expect(await tables.query('select text from outcomes')).toEqual([{ text: 'unknown' }]);
    expect(lines).toEqual([expect.stringMatching(/^database unavailable: /), 'database available again']);
  });

  it('that cannot be made is one line for all that need it, and its return another', async () => {
    const tables = new Database(await serve(proxy.url(database.url), 2));
    const [server, ask] = [proxy.target, () => tables.query('select 1')];
    for (let round = 0; round < 2; round++) {
      lines.length = 0;
      proxy.aim('/nowhere');
      proxy.cut();
      const asked = [ask(), ask(), ask(), tables.change('create table never ()')];
      for (const outcome of await Promise.allSettled(asked))
        expect(outcome).toMatchObject({ status: 'rejected', reason: unavailable });
      await expect(ask()).rejects.toMatchObject(unavailable);
      proxy.aim(server);
      await Promise.all([ask(), ask()]);
      await ask();
      expect(lines).toEqual([expect.stringMatching(/^database unavailable: /), 'database available again']);
    }
  });

  it('to a server that has become read-only is closed, with all others, and creates are tried twice a second', async () => {
    const tables = new Database(await serve(database.url, 3));
    const pid = 'select pg_backend_pid() as pid, pg_sleep(0.1)';
    const pids = async () =>
      (await Promise.all([1, 2, 3].map(() => tables.query<{ pid: number }>(pid)))).map(([row]) => row!.pid);
    await queryOnce(database.url, 'create table if not exists places (n integer)');
    const before = await pids();
    await setDefault('default_transaction_read_only', 'on');
    // As on a standby, only new sessions show it: these have the setting at once.
    await Promise.all(
      opened.flatMap((dataSource) =>
        before.map(() => dataSource.query('set default_transaction_read_only = on')),
      ),
    );
    const insert = () => tables.change('insert into places values (1)');
    await expect(insert()).rejects.toMatchObject({ ...unavailable, cause: { code: '25006' } });
    await expect(insert()).rejects.toMatchObject({ ...unavailable, cause: undefined });
    const after = await pids();
    expect(after.filter((one) => before.includes(one))).toEqual([]);
    await queryOnce(
      database.url,
      `begin read write; alter database ${database.name} reset default_transaction_read_only; commit`,
    );
    const promotedAt = performance.now();
    await eventually(insert);
    expect(performance.now() - promotedAt).toBeLessThan(3_000);
    expect(lines).toEqual([
      expect.stringMatching(/^database takes no changes: .*read-only/),
      'database takes changes again',
    ]);
  });
});

describe('a prepared statement', () => {
  it.each(['26000', '42P05'])(
    'that meets another session (%s) names the parameter of the URL',
    async (code) => {
      const tables = new Database(await serve());
      const raise = `do $$ begin raise exception 'the statement' using errcode = '${code}'; end $$`;
      await expect(tables.query(raise)).rejects.toThrow(
        'the statement: behind a pooler such as PgBouncer, add pgbouncer=true to the parameters in the URL of the database',
      );
    },
  );
});
