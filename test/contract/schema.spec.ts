import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { eventually } from '../support/eventually.js';
import { connectionOptions, migrate, plainOptions } from '../../src/database/setup/index.js';
import { entities, migrations } from '../../src/app.module.js';
import { Logger } from '@nestjs/common';
import { limits, untilWaiting, useDatabase } from '../support/storage.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { loadVersion03 } from '../upgrade/version-0-3.js';

/** In the order in which they run, by the time in each name. */
const NAMES = migrations
  .map((Migration) => new Migration().name)
  .toSorted((one, other) => Number(one.slice(-13)) - Number(other.slice(-13)));
/** The schema of a new database. */
const SCHEMA = join(import.meta.dirname, 'schema.txt');

let database: TestDatabase;
let opened: DataSource[];

async function open(options: Partial<ReturnType<typeof plainOptions>> = {}): Promise<DataSource> {
  const dataSource = new DataSource({ ...plainOptions(database.url), entities, migrations, ...options });
  opened.push(await dataSource.initialize());
  return dataSource;
}

/** Returns the changes that TypeORM would make, also in tables that only migrations may change. */
async function differences(dataSource: DataSource): Promise<string[]> {
  for (const metadata of dataSource.entityMetadatas) metadata.synchronize = true;
  return (await dataSource.driver.createSchemaBuilder().log()).upQueries.map(({ query }) => query);
}

/** A line for each thing in the schema `public`, in an order of its own; what only PostgreSQL 18 lists is left out. */
const LINES = `
  with tables as (
    select oid, relname, coalesce(' with (' || array_to_string(reloptions, ', ') || ')', '') as options
      from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'migrations'
  )
  select line from (
  select relname as name, 0 as kind, '' as part, 'table ' || relname || options as line from tables
  union all
  select relname, 1, lpad(attnum::text, 3),
         format('  %s %s%s%s%s%s', attname, format_type(atttypid, atttypmod), case when attnotnull then ' not null' end,
                ' default ' || pg_get_expr(adbin, adrelid), case when attidentity = 'd' then ' by default as identity' end,
                case when attstorage <> typstorage then ' storage ' || attstorage::text end)
    from tables join pg_attribute on attrelid = tables.oid join pg_type on pg_type.oid = atttypid
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
   where attnum > 0 and not attisdropped
  union all
  select relname, 2, conname, format('  %s %s', conname, pg_get_constraintdef(pg_constraint.oid))
    from tables join pg_constraint on conrelid = tables.oid where contype <> 'n'
  union all
  select relname, 3, indexrelid::regclass::text, '  ' || pg_get_indexdef(indexrelid)
    from tables join pg_index on indrelid = tables.oid
   where not exists (select from pg_constraint where conindid = indexrelid)
  union all
  select relname, 4, tgname, format('  %s (%s)', pg_get_triggerdef(pg_trigger.oid), tgenabled)
    from tables join pg_trigger on tgrelid = tables.oid where not tgisinternal
  union all
  select sequencename, 5, '', format('sequence %s %s from %s by %s', sequencename, data_type, start_value, increment_by)
    from pg_sequences where schemaname = 'public' and sequencename not like 'migrations%'
  union all
  select proname, 6, '', format('function %s(%s) returns %s, %s, volatility %s, parallel %s%s%s%s%s', proname,
           pg_get_function_identity_arguments(pg_proc.oid), pg_get_function_result(pg_proc.oid), lanname, provolatile, proparallel,
           case when proisstrict then ', strict' end, case when prosecdef then ', security definer' end, ', set ' || array_to_string(proconfig, ', '),
           case when not has_function_privilege('public', pg_proc.oid, 'execute') then ', not for public' end)
    from pg_proc join pg_language on pg_language.oid = prolang where pronamespace = 'public'::regnamespace
) things order by greatest(kind, 4), name collate "C", kind, part collate "C", line collate "C"`;

/** The tables, their triggers and the functions of a database, but for the bodies of functions, one line each. */
async function schemaOf(dataSource: DataSource): Promise<string> {
  const rows = await dataSource.query<{ line: string }[]>(LINES);
  return rows.map(({ line }) => `${line}\n`).join('');
}

describe('the migrations', () => {
  beforeEach(async () => {
    database = await createTestDatabase();
    opened = [];
  });
  afterEach(async () => {
    for (const dataSource of opened) await dataSource.destroy();
    await database.drop();
  });

  it('make the tables that the entities describe, once; an index, a column or a check less would be seen', async () => {
    expect(await migrate({ url: database.url, migrations })).toEqual(NAMES);
    expect(await migrate({ url: database.url, migrations })).toEqual([]);
    const service = new DataSource(connectionOptions(database.url, entities, limits));
    opened.push(await service.initialize());
    expect(await differences(service)).toEqual([]);
    await service.query('drop index time_logs_date_id_idx');
    await service.query('alter table access_tokens drop column last_used_at');
    await service.query('alter table time_logs drop constraint time_logs_duration_is_positive');
    expect(await differences(service)).toHaveLength(3);
  });

  it('make the schema of schema.txt (to write it: WRITE_SCHEMA=1 npm test -- test/contract/schema.spec.ts)', async () => {
    await migrate({ url: database.url, migrations });
    const dataSource = await open();
    const schema = await schemaOf(dataSource);
    if (process.env.WRITE_SCHEMA) await writeFile(SCHEMA, schema);
    expect(schema).toBe(await readFile(SCHEMA, 'utf8'));
  });

  it('make that schema of one of version 0.3', async () => {
    await loadVersion03(database);
    await migrate({ url: database.url, migrations });
    expect(await schemaOf(await open())).toBe(await readFile(SCHEMA, 'utf8'));
  });

  it('run once where several instances start at the same time', async () => {
    const runs = Array.from({ length: 4 }, () => migrate({ url: database.url, migrations }));
    expect((await Promise.all(runs)).flat().sort()).toEqual([...NAMES].sort());
    const dataSource = await open();
    expect(await dataSource.query('select name from migrations order by id')).toEqual(
      NAMES.map((name) => ({ name })),
    );
  });

  it('let others use a table while they wait for a transaction that holds it, and have no timeout', async () => {
    class AddColumn1 implements MigrationInterface {
      readonly name = 'AddColumn1800000000000';
      async up(runner: QueryRunner): Promise<void> {
        await runner.query('alter table held add column added integer');
        await runner.query('select pg_sleep(0.2)');
      }
      readonly down = async () => undefined;
    }
    const lines: string[] = [];
    Logger.overrideLogger({ log: (line) => lines.push(String(line)), warn: () => 0, error: () => 0 });
    const holder = (await open()).createQueryRunner();
    try {
      await holder.query('create table held ()');
      await holder.startTransaction();
      await holder.query('select from held');
      const migrated = migrate({
        url: `${database.url}?options=-c%20statement_timeout=100`,
        migrations: [AddColumn1],
      });
      // A reader queues behind the migration, and must not wait as long as a request does.
      const reader = await open({ poolSize: 1 });
      await reader.query('set lock_timeout = 1500');
      await untilWaiting(reader);
      await reader.query('select from held');
      await eventually(() => expect(lines).toHaveLength(1));
      await holder.commitTransaction();
      expect(await migrated).toEqual(['AddColumn1800000000000']);
      expect(lines).toEqual([
        'waiting for a table that another transaction has locked: pg_stat_activity shows it',
      ]);
    } finally {
      Logger.overrideLogger(false);
      if (holder.isTransactionActive) await holder.rollbackTransaction();
      await holder.release();
    }
  });
});

const GOOD = {
  id: '019c1370-4e1b-7000-8000-000000000001',
  project_id: '11111111-1111-1111-1111-111111111111',
  duration: '1.5',
  description: 'x'.repeat(5000),
  date: '2026-01-31',
};

async function insert(
  dataSource: DataSource,
  changes: Partial<Record<keyof typeof GOOD, string | null>>,
): Promise<void> {
  const { id, project_id, duration, description, date } = { ...GOOD, ...changes };
  await dataSource.query(
    'insert into time_logs (id, project_id, duration, description, date) values ($1, $2, $3, $4, $5)',
    [id, project_id, duration, description, date],
  );
}

describe('the table of time logs', () => {
  const migrated = useDatabase();
  let dataSource: DataSource;
  beforeAll(() => void ({ dataSource } = migrated));
  afterEach(() => dataSource.query('truncate time_logs'));

  it.each([
    ['no duration to speak of', { duration: '0' }, 'time_logs_duration_is_positive'],
    ['a negative duration', { duration: '-1' }, 'time_logs_duration_is_positive'],
    ['NaN', { duration: 'NaN' }, 'time_logs_duration_is_positive'],
    ['Infinity', { duration: 'Infinity' }, 'time_logs_duration_is_positive'],
    ['more than a double holds', { duration: '1e400' }, 'time_logs_duration_is_within_double'],
    ['less than a double holds', { duration: '1e-400' }, 'time_logs_duration_is_within_double'],
    ['a UUIDv4 as id', { id: '019c1370-4e1b-4000-8000-000000000001' }, 'time_logs_id_is_uuidv7'],
    ['the nil UUID as id', { id: '00000000-0000-0000-0000-000000000000' }, 'time_logs_id_is_uuidv7'],
    ['year 10000', { date: '10000-01-01' }, 'time_logs_date_has_four_digit_year'],
    ['a year before Christ', { date: '0001-12-31 BC' }, 'time_logs_date_has_four_digit_year'],
    ['infinity as date', { date: 'infinity' }, 'time_logs_date_has_four_digit_year'],
    ['-infinity as date', { date: '-infinity' }, 'time_logs_date_has_four_digit_year'],
    ['5001 characters', { description: 'x'.repeat(5001) }, 'time_logs_description_is_short'],
  ])('refuses %s', async (_what, changes, constraint) => {
    await expect(insert(dataSource, changes)).rejects.toMatchObject({
      driverError: { code: '23514', constraint },
    });
  });
});
