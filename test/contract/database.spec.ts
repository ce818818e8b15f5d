import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { queryOnce } from '../support/postgres-cluster.js';
import {
  connectionOptions,
  Database,
  DataSource,
  isRowError,
  Logger,
  AutocommitStatement,
  migrate,
  plainOptions,
  TextStatement,
} from '../support/storage.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const ISOLATION = `current_setting('transaction_isolation')`;

/** Values of synchronous_commit, and those that a change uses. */
const MODES = [
  ...['off', 'local', 'remote_write', 'on'].map((mode) => [mode, 'on']),
  ['remote_apply', 'remote_apply'],
];

class NoteIsolation1763683100000 implements MigrationInterface {
  readonly name = 'NoteIsolation1763683100000';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create table isolations as select ${ISOLATION} as name`);
  }
  async down(): Promise<void> {
    return Promise.reject(new Error('not needed'));
  }
}

let database: TestDatabase;
/** The logged lines. */
const lines: string[] = [];
const keep = (line: string) => void lines.push(line);

beforeAll(async () => {
  database = await createTestDatabase();
  const { url, name } = database;
  await queryOnce(url, `alter database ${name} set default_transaction_isolation = 'serializable'`);
  await migrate({ url, migrations: [NoteIsolation1763683100000] });
});
beforeEach(() => {
  lines.length = 0;
  Logger.overrideLogger({ log: keep, warn: keep, error: keep });
});
afterAll(async () => {
  Logger.overrideLogger(false);
  await database.drop();
});

describe.each([
  ['as the service connects', () => connectionOptions(database.url, [], { poolSize: 1, deadline: 25_000 })],
  ['as commands and hosts connect', () => plainOptions(database.url)],
])('a change, %s', (_how, options) => {
  let dataSource: DataSource;
  let tables: Database;
  const numbers = async () =>
    (await tables.query<{ n: number }>('select n from numbers order by n')).map(({ n }) => n);

  beforeEach(async () => {
    dataSource = await new DataSource({ ...options(), poolSize: 1 }).initialize();
    tables = new Database(dataSource);
    await dataSource.query(
      `drop table if exists numbers;
       create table numbers (n integer unique deferrable initially deferred check (n > 0));
       insert into numbers values (1), (2)`,
    );
  });
  afterEach(() => dataSource.destroy());

  it('is READ COMMITTED, whatever the default is, and a migration too', async () => {
    expect(await tables.query(`select ${ISOLATION} as name`)).toEqual([{ name: 'serializable' }]);
    expect(await tables.change(`select ${ISOLATION} as name`)).toEqual([{ name: 'read committed' }]);
    expect(await tables.query('select name from isolations')).toEqual([{ name: 'read committed' }]);
  });

  it.each(MODES)('waits for the disk if the setting of its role is %s', async (mode, kept) => {
    const current = `select current_setting('synchronous_commit') as mode`;
    await tables.query(`set synchronous_commit = ${mode}`);
    expect(await tables.change(current)).toEqual([{ mode: kept }]);
    expect(await tables.query(current)).toEqual([{ mode }]);
  });

  it('is committed when it resolves, and returns its rows', async () => {
    const inserted = await tables.change('insert into numbers values ($1), ($2) returning n', [3, 4]);
    expect(inserted).toEqual([{ n: 3 }, { n: 4 }]);
    const other = await new DataSource(plainOptions(database.url)).initialize();
    expect(await other.query('select n from numbers where n > 2 order by n')).toEqual(inserted);
    await other.destroy();
  });

  describe('that may be sent alone', () => {
    const note = new AutocommitStatement(
      (condition) =>
        `insert into notes select ${ISOLATION}, current_setting('synchronous_commit'), ${condition === 'true' ? 'false' : 'true'}
          where ${condition} returning isolation, commit, alone::text`,
    );
    const run = (sql: string) => dataSource.query(sql);

    beforeEach(() => run('create temp table notes (isolation text, commit text, alone boolean)'));

    it.each(['serializable', 'repeatable read', 'read uncommitted'])(
      'is in a transaction under READ COMMITTED where the default is %s, and so is the next',
      async (isolation) => {
        const changing = new Database(dataSource);
        await run(`set default_transaction_isolation = '${isolation}'`);
        expect(await changing.change(note)).toEqual([['read committed', 'on', 'false']]);
        await run(`set default_transaction_isolation = 'read committed'`);
        expect(await changing.change(note)).toEqual([['read committed', 'on', 'false']]);
      },
    );

    it.each(MODES)('waits for the disk alone too, if the setting of its role is %s', async (mode, kept) => {
      await run(`set default_transaction_isolation = 'read committed'; set synchronous_commit = ${mode}`);
      expect(await new Database(dataSource).change(note)).toEqual([['read committed', kept, 'true']]);
    });

    it('rejects where the commit fails, and leaves nothing behind', async () => {
      await run(`set default_transaction_isolation = 'read committed'`);
      const add = new AutocommitStatement(
        (condition) => `insert into numbers select * from unnest($1::int[]) where ${condition}`,
      );
      await expect(tables.change(add, [[4, 4]])).rejects.toMatchObject({ code: '23505' });
      expect(await numbers()).toEqual([1, 2]);
    });

    it('leaves the isolation level and synchronous_commit of a transaction of the caller as they are', async () => {
      await run('set synchronous_commit = local');
      const isolated = dataSource.transaction('SERIALIZABLE', (manager) =>
        tables.within(manager).change(note),
      );
      expect(await isolated).toEqual([['serializable', 'local', 'false']]);
    });
  });

  it.each([
    ['the statement', '(3), (-1)', '23514'],
    ['the commit', '(3), (1)', '23505'],
  ])('rejects where %s fails, and leaves nothing behind', async (_what, rows, code) => {
    await expect(tables.change(`insert into numbers values ${rows}`)).rejects.toMatchObject({ code });
    expect(await numbers()).toEqual([1, 2]);
    expect(await tables.change(`select ${ISOLATION} as name`)).toEqual([{ name: 'read committed' }]);
  });
});

describe('a change that waits for a row', () => {
  it.each([
    [
      'its statements have a limit',
      () => connectionOptions(database.url, [], { poolSize: 2, deadline: 500 }),
    ],
    ['they have none, as in a host', () => plainOptions(database.url)],
  ])('is refused, and is no outage, where others hold the row, and %s', async (_how, options) => {
    const dataSource = await new DataSource(options()).initialize();
    const holder = dataSource.createQueryRunner();
    try {
      await holder.query('create table if not exists held as select 1 as n');
      // As long as it takes: with a limit, its own session would end where the machine is busy.
      await holder.query(
        'begin; set local idle_in_transaction_session_timeout = 0; select from held for update',
      );
      const change = new Database(dataSource).change(new TextStatement('delete from held'), [], {
        lockTimeout: 300,
      });
      await expect(change).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(lines).toEqual([]);
    } finally {
      await holder.query('rollback');
      await holder.release();
      await dataSource.destroy();
    }
  });
});

describe('an error that a single row may have caused', () => {
  const table = 'create temp table refused (n integer)';
  const raising = (statement: string) =>
    `${table}; create function pg_temp.refuse() returns trigger language plpgsql as $$ begin ${statement}; end $$;
     create trigger refuse before insert on refused for each row execute function pg_temp.refuse()`;

  it.each([
    ['not that of a missing grant', '42501', `${table}; revoke all on refused from current_user`, false],
    ['not that of a missing table', '42P01', 'select', false],
    ['not that of a missing column', '42703', 'create temp table refused ()', false],
    ['that of a constraint', '23514', `${table}; alter table refused add check (n > 1)`, true],
    [
      'that of a policy',
      '42501',
      `${table}; alter table refused enable row level security, force row level security`,
      true,
    ],
    ['that of a trigger that refuses access', '42501', raising('raise insufficient_privilege'), true],
    ['that of a trigger that needs a table', '42P01', raising(`execute 'select from n' || new.n`), true],
  ])('is %s', async (_what, code, prepare, expected) => {
    const dataSource = await new DataSource({ ...plainOptions(database.url), poolSize: 1 }).initialize();
    await dataSource.query(prepare);
    const insertion = new Database(dataSource).change('insert into refused (n) values (1)');
    const error: unknown = await insertion.catch((thrown: unknown) => thrown);
    expect([error, isRowError(error)]).toEqual([expect.objectContaining({ code }), expected]);
    await dataSource.destroy();
  });
});

describe('a shutdown', () => {
  it('waits for a statement under way, which would look like an outage when the pool ends', async () => {
    const dataSource = await new DataSource(plainOptions(database.url)).initialize();
    const tables = new Database(dataSource);
    const outcome = tables.query('select pg_sleep(0.2)').catch((error: unknown) => error);
    await tables.beforeApplicationShutdown();
    await dataSource.destroy();
    expect([await outcome, lines]).toEqual([[{ pg_sleep: '' }], []]);
    expect(tables.pool).toEqual({ max: 0, total: 0, idle: 0, waiting: 0 });
    await expect(tables.query('select')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('does not wait for a long one', async () => {
    const dataSource = await new DataSource(plainOptions(database.url)).initialize();
    const tables = new Database(dataSource);
    const ended: string[] = [];
    const long = tables.query('select pg_sleep(30)').then(() => ended.push('the statement'));
    await tables.beforeApplicationShutdown();
    expect(ended).toEqual([]);
    await dataSource.destroy();
    await expect(long).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
});
