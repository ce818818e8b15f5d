import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { QueryRunner } from 'typeorm';
import { eventually } from '../support/eventually.js';
import { indexedAttribute } from '../../src/time-log/infrastructure/attribute-condition.js';
import {
  whileRepeating,
  Database,
  type DataSource,
  indexFault,
  migrate,
  migrations,
  untilWaiting,
  updateAttributeIndexes,
  useDatabase,
} from '../support/storage.js';

const database = useDatabase({ poolSize: 10 }, [beforeEach, afterEach]);
const NAME = 'time_logs_attribute_userId_idx';
const created = (name: string) => `created the index of attributes.${name}`;
const dropped = (name: string) => `dropped the index of attributes.${name}`;

async function withRunner<T>(
  act: (runner: QueryRunner) => Promise<T>,
  from = database.dataSource,
): Promise<T> {
  const runner = from.createQueryRunner();
  try {
    return await act(runner);
  } finally {
    await runner.release();
  }
}

const update = (filters: readonly string[], from?: DataSource) =>
  withRunner((runner) => updateAttributeIndexes(runner, filters), from);

const faultOf = (filters: readonly string[], from = database.dataSource) =>
  indexFault(new Database(from), filters);

function record(userId: unknown, from: Pick<DataSource, 'query'> = database.dataSource): Promise<unknown> {
  return from.query(
    `insert into time_logs (id, project_id, duration, description, date, attributes) select
       overlay(gen_random_uuid()::text placing '7' from 15)::uuid, gen_random_uuid(), 1, '', '2026-01-31', $1`,
    [JSON.stringify({ userId })],
  );
}

async function indexesOf(from = database.dataSource, schema = 'public'): Promise<string[]> {
  const rows = await from.query<{ name: string }[]>(
    `select indexname as name from pg_indexes where schemaname = $1 and indexname like '%attribute\\_%' order by 1`,
    [schema],
  );
  return rows.map(({ name }) => name);
}

it('creates the indexes of filters and drops the others', async () => {
  expect(await faultOf([])).toBeUndefined();
  expect(await faultOf(['userId', 'userid'])).toBe('attributes.userId has no index');
  expect(await update(['userId', 'userid'])).toEqual([created('userId'), created('userid')]);
  expect(await faultOf(['userId', 'userid'])).toBeUndefined();
  expect(await update(['userid', 'userId'])).toEqual([]);
  expect(await update(['userId', 'team'])).toEqual([dropped('userid'), created('team')]);
  expect(await update([])).toEqual([dropped('team'), dropped('userId')]);
  expect(await indexesOf()).toEqual([]);
});

it('creates an index that filtered reads use', async () => {
  await update(['userId']);
  const plan = await withRunner(async (runner) => {
    await runner.query('set enable_seqscan = off');
    return (await runner.query(
      `explain select from time_logs log where ${indexedAttribute('userId', 'log.')} = '"ada"'::jsonb
          and date >= '2026-01-01' order by date desc, id desc`,
    )) as object;
  });
  expect(JSON.stringify(plan)).toContain(`Index Scan Backward using \\"${NAME}\\"`);
  expect(JSON.stringify(plan)).not.toContain('Sort');
});

it('accepts every value of earlier and later logs', async () => {
  const values = [
    'x'.repeat(100_000),
    // As many bytes as an index contains, in a form that cannot be compressed.
    Array.from({ length: 255 }, (_, n) => String.fromCodePoint(0x10000 + ((n * 7919) % 50_000))).join(''),
    Array.from({ length: 255 }, (_, n) => 10 + ((n * 7919) % 89)),
    { a: [null, {}] },
    5e-324,
    true,
  ];
  for (const value of values) await record(value);
  await database.dataSource.query(
    `insert into time_logs (id, project_id, duration, description, date) values
       ('019c1370-4e1b-7000-8000-000000000001', gen_random_uuid(), 1, '', '2026-01-31')`,
  );
  expect(await update(['userId'])).toEqual([created('userId')]);
  for (const value of values) await record(value);
});

it('uses the schema and the prefix of the DataSource', async () => {
  const options = { schema: 'Else where', entityPrefix: 'my_' };
  await migrate({ url: database.url, migrations, options });
  const host = await database.open(options);
  expect(await update(['userId'], host)).toEqual([created('userId')]);
  expect(await indexesOf(host, options.schema)).toEqual([`my_${NAME}`]);
  expect(await faultOf(['userId'], host)).toBeUndefined();
  expect(await faultOf(['userId'])).toBe('attributes.userId has no index');
  await update(['userId']);
  expect(await update([], host)).toEqual([dropped('userId')]);
  expect(await indexesOf()).toEqual([NAME]);
});

it('creates an index again that a failure left invalid', async () => {
  await update(['userId']);
  const superuser = await database.open({ url: database.superuserUrl });
  await superuser.query(`update pg_index set indisvalid = false where indexrelid = '"${NAME}"'::regclass`);
  expect(await faultOf(['userId'])).toBe('attributes.userId has no index');
  expect(await update(['userId'])).toEqual([created('userId')]);
  expect(await faultOf(['userId'])).toBeUndefined();
});

it('waits for an index that another session creates', async () => {
  const writer = await database.transaction();
  await record('ada', writer);
  const other = database.dataSource.query(
    `create index concurrently "${NAME}" on time_logs (${indexedAttribute('userId')}, date, id)`,
  );
  await untilWaiting(database.dataSource);
  const updated = update(['userId']);
  const polled = `select from pg_stat_activity where datname = current_database() and query = 'ROLLBACK'`;
  await eventually(async () => expect(await database.dataSource.query(polled)).toHaveLength(1));
  await writer.commitTransaction();
  expect(await Promise.all([other, updated])).toEqual([expect.anything(), []]);
});

it('lets sessions take turns', async () => {
  const lines = await Promise.all(Array.from({ length: 3 }, () => update(['userId', 'team'])));
  expect(lines.flat().sort()).toEqual([created('team'), created('userId')]);
});

it('creates an index that waits for the read of a session that waits for its turn', async () => {
  const reading = await database.open();
  const createQueryRunner = reading.createQueryRunner.bind(reading);
  reading.createQueryRunner = () => {
    const runner = createQueryRunner();
    const query = runner.query.bind(runner) as (...statement: [string]) => Promise<unknown>;
    runner.query = ((sql: string, ...values: []) =>
      query(
        sql.replace('select pg_try', 'select pg_advisory_xact_lock_shared(1), pg_try'),
        ...values,
      )) as typeof runner.query;
    return runner;
  };
  const gate = await database.transaction();
  await gate.query('select pg_advisory_xact_lock(1)');
  const waiting = update(['userId'], reading);
  await untilWaiting(database.dataSource);
  const updating = update(['userId']);
  await untilWaiting(database.dataSource, 2);
  await gate.commitTransaction();
  expect(await Promise.all([updating, waiting])).toEqual([[created('userId')], []]);
});

it('lets others write meanwhile', async () => {
  const record1 = () => record('ada');
  expect(await whileRepeating([record1, record1], () => update(['userId', 'team']))).toHaveLength(2);
  expect(await whileRepeating([record1, record1], () => update([]))).toHaveLength(2);
});

it('ignores the timeouts of statements, and leaves them as they were', async () => {
  const host = await database.open({ extra: { statement_timeout: 60_000, lock_timeout: 50_000 } });
  const timeouts = await withRunner(async (runner) => {
    const query = runner.query.bind(runner);
    const read = async () =>
      Object.values(
        (await query(
          `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`,
        )) as object[],
      );
    const during: object[] = [];
    runner.query = (async (...args: Parameters<typeof query>) => {
      if (args[0].startsWith('create')) during.push(...(await read()));
      return (await query(...args)) as unknown;
    }) as typeof query;
    await updateAttributeIndexes(runner, ['userId']);
    return [...during, ...(await read())];
  }, host);
  expect(timeouts).toEqual([
    { statement: '0', lock: '0' },
    { statement: '1min', lock: '50s' },
  ]);
});

it.each([
  ['a name that is no identifier', "user'id", '', /^attributes.user'id cannot have an index: use a name/],
  [
    'a name that PostgreSQL would cut',
    'a'.repeat(32),
    'our_own_',
    /^the name .* is longer than 63 bytes: shorten/,
  ],
])('refuses %s', async (_what, attribute, entityPrefix, message) => {
  const host = await database.open({ entityPrefix });
  await expect(update([attribute], host)).rejects.toThrow(message);
});

it('refuses a transaction', async () => {
  const runner = await database.transaction();
  await expect(updateAttributeIndexes(runner, [])).rejects.toThrow(
    /: set transaction = false in the migration$/,
  );
});
