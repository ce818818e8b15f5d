import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  Column,
  DataSource,
  DefaultNamingStrategy,
  Entity,
  type EntityTarget,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
} from 'typeorm';
import { TimeLogModule } from '../../src/embedding/index.js';
import {
  PageRequest,
  Period,
  TimeLog,
  timeLogEntities,
  timeLogMigrations,
  TimeLogService,
} from '../../src/time-log/index.js';
import { TotalsService } from '../../src/totals/index.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { LOG } from '../support/requests.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** A table of the host, which TypeORM makes. */
@Entity('approvals')
class Approval {
  @PrimaryColumn({ type: 'uuid', name: 'log_id' })
  readonly logId!: string;

  @ManyToOne(() => TimeLog)
  @JoinColumn({ name: 'log_id' })
  readonly log?: TimeLog;

  @Column({ type: 'text' })
  readonly by!: string;
}

const TAKEN =
  /^the schema has time logs already, under another entityPrefix or made by synchronize: give each DataSource with time logs a schema of its own, or drop what synchronize has made$/;
const UNFIT =
  /^the schema and the entityPrefix of a DataSource with time logs, and the names of its namingStrategy, must not contain \$\$, ; or "$/;

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const options = (given: object) => ({
  type: 'postgres' as const,
  url: database.url,
  migrations: timeLogMigrations,
  installExtensions: false,
  // Prints nothing of the migrations that are meant to fail.
  logger: 'debug' as const,
  poolErrorHandler: () => undefined,
  ...given,
});

/** Starts a host, and counts the logs after one of them was recorded, one corrected and one deleted. */
async function countIn(given: object): Promise<number[]> {
  @Module({
    imports: [
      TypeOrmModule.forRoot({
        ...options({ autoLoadEntities: true, migrationsRun: true, ...given }),
        retryAttempts: 0,
      }),
      TimeLogModule.forRoot({ caller: () => undefined }),
    ],
  })
  class HostModule {}
  const app = await NestFactory.createApplicationContext(HostModule, { logger: false, abortOnError: false });
  try {
    const service = app.get(TimeLogService);
    await service.record(LOG);
    const wrong = await service.record(LOG);
    await service.correct(wrong.id, { ...LOG, duration: 3 });
    const needless = await service.record(LOG);
    await service.delete(needless.id);
    const all = { period: Period.of() };
    const { total } = await service.list(all, PageRequest.of(1, 10));
    const { whole } = await app.get(TotalsService).totals(all, 'project', PageRequest.of(1, 10));
    return [total, whole.count];
  } finally {
    await app.close();
  }
}

async function withDataSource<T>(given: object, act: (dataSource: DataSource) => Promise<T>): Promise<T> {
  const dataSource = await new DataSource(options(given)).initialize();
  try {
    return await act(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

const entities: EntityTarget<object>[] = [...timeLogEntities, Approval];

describe('synchronize of a host', () => {
  it('makes the tables of the host and leaves ours to their migrations', async () => {
    const given = { synchronize: true, entities };
    expect(await countIn(given)).toEqual([2, 2]);
    // Another start finds nothing to change, and no trigger or function lost.
    expect(await countIn(given)).toEqual([4, 4]);
    await withDataSource({ entities }, (dataSource) => dataSource.getRepository(Approval).find());
  });

  it('makes no table of ours on its own: the start says what is missing', async () => {
    await expect(countIn({ synchronize: true, migrationsRun: false })).rejects.toThrow(
      /^the database lacks tables or functions of time logs: add timeLogMigrations/,
    );
    // And then that can be done.
    expect(await countIn({ synchronize: true })).toEqual([2, 2]);
  });
});

it('a migration that TypeORM generates on an empty database has the tables of the host alone', async () => {
  const queries = await withDataSource({ entities }, async (dataSource) =>
    (await dataSource.driver.createSchemaBuilder().log()).upQueries.map(({ query }) => query),
  );
  expect(queries).toEqual([
    expect.stringMatching(/^CREATE TABLE "approvals"/),
    expect.stringMatching(/^ALTER TABLE "approvals" ADD CONSTRAINT .* REFERENCES "time_logs"\("id"\)/),
  ]);
});

describe('the names of a host', () => {
  it.each([
    ["our o'clock ü $a$b", 'A a\\b %s--/*'],
    [`A a\\b %s --/*${'x'.repeat(51)}`, "o'clock ü.$a$b "],
  ])('may be a schema and a prefix: %s, %s', async (schema, entityPrefix) => {
    await queryOnce(database.url, `create schema "${schema}"`);
    expect(await countIn({ schema, entityPrefix })).toEqual([2, 2]);
  });

  it.each(['a$$b', 'a;b', 'a"b'])('cannot be used by our SQL, which the start says: %s', async (name) => {
    await expect(countIn({ entityPrefix: name })).rejects.toThrow(UNFIT);
    if (name.includes('"')) return; // TypeORM fails before us.
    await queryOnce(database.url, `create schema "${name}"`);
    await expect(countIn({ schema: name })).rejects.toThrow(UNFIT);
    await expect(countIn({ schema: name, migrationsRun: false })).rejects.toThrow(UNFIT);
  });
});

/** Changes the names that entities give their tables. */
class PrefixedNames extends DefaultNamingStrategy {
  override tableName(target: string, given: string | undefined): string {
    return `app ${super.tableName(target, given)}`;
  }
}

it('a naming strategy of a host names our tables too', async () => {
  const given = { namingStrategy: new PrefixedNames(), synchronize: true, entities };
  expect(await countIn(given)).toEqual([2, 2]);
  expect(await countIn(given)).toEqual([4, 4]);
  const found = await queryOnce<{ name: string }>(
    database.url,
    `select tablename as name from pg_tables where schemaname = 'public'`,
  );
  expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining(['app approvals', 'app time_logs']));
  // TypeORM's own statements find what ours have stored.
  const logs = await withDataSource(given, (dataSource) => dataSource.getRepository(TimeLog).find());
  expect(logs).toHaveLength(4);
});

it('two prefixes need two schemas, which the second one says', async () => {
  const second = { entityPrefix: 'b_', migrationsTableName: 'b_migrations' };
  expect(await countIn({ entityPrefix: 'a_' })).toEqual([2, 2]);
  await expect(countIn(second)).rejects.toThrow(TAKEN);
  // The migrations of both are noted in one table.
  await expect(countIn({ entityPrefix: 'b_' })).rejects.toThrow(TAKEN);
  await queryOnce(database.url, 'create schema "B"');
  await expect(countIn({ ...second, schema: 'B', migrationsRun: false })).rejects.toThrow(
    /^the database lacks/,
  );
  expect(await countIn({ ...second, schema: 'B' })).toEqual([2, 2]);
  expect(await countIn({ entityPrefix: 'a_' })).toEqual([4, 4]);
});
