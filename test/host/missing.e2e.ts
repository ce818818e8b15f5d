import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Module, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { migrate } from '../../src/database/setup/index.js';
import { TimeLogModule } from '../../src/embedding/index.js';
import { timeLogEntities, timeLogMigrations } from '../../src/time-log/index.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('a host that lacks something ends its start and says what to do', () => {
  let empty: TestDatabase;
  let migrated: TestDatabase;

  beforeAll(async () => {
    [empty, migrated] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    await migrate({ url: migrated.url, migrations: timeLogMigrations });
  });
  afterAll(() => Promise.all([empty.drop(), migrated.drop()]));

  const run = (sql: string) => queryOnce(migrated.url, sql);
  const caller = () => ({ scopes: [] });
  const dataSource = ({ url }: TestDatabase, options: object = { entities: timeLogEntities }) =>
    TypeOrmModule.forRoot({ type: 'postgres', url, poolErrorHandler: () => undefined, ...options });
  const start = async (imports: ModuleMetadata['imports'] = []) => {
    @Module({ imports })
    class HostModule {}
    const app = await NestFactory.create(HostModule, { logger: false, abortOnError: false });
    try {
      await app.init();
    } finally {
      await app.close();
    }
  };

  const withoutEntities = () => dataSource(migrated, { autoLoadEntities: false });
  type Case = [string, () => NonNullable<ModuleMetadata['imports']>, RegExp | string];
  it.each<Case>([
    [
      'the entities',
      () => [withoutEntities(), TimeLogModule.forRoot({ caller })],
      /^the DataSource lacks the entities of time logs: add timeLogEntities to its entities, or set autoLoadEntities and import TimeLogModule\.forRoot\(\{\}\)$/,
    ],
    [
      'access control',
      () => [dataSource(migrated), TimeLogModule.forRoot({})],
      /^no access control is configured: import BearerAuthModule\.forRoot\(\{ verifier, realm \}\), set a guard or a caller of your own, or import the same module object that has them$/,
    ],
    [
      'a Standard Schema',
      () => [dataSource(migrated), TimeLogModule.forRoot({ caller, attributes: {} as never })],
      '~standard',
    ],
  ])('%s', async (_what, modules, message) => {
    await expect((async () => start(modules()))()).rejects.toThrow(message);
  });

  it('the tables, or a function', async () => {
    const message =
      /^the database lacks tables or functions of time logs: add timeLogMigrations to the migrations of the DataSource, and run them$/;
    const modules = (database: TestDatabase) => [dataSource(database), TimeLogModule.forRoot({ caller })];
    await expect(start(modules(empty))).rejects.toThrow(message);
    await expect(start(modules(migrated))).resolves.toBeUndefined();
    await run('alter function page_time_logs rename to another');
    await expect(start(modules(migrated))).rejects.toThrow(message);
    await run('alter function another rename to page_time_logs');
    const attributes = {
      '~standard': { version: 1, vendor: 'host', validate: (value: unknown) => ({ value }) },
    } as const;
    const withAttributes = [dataSource(migrated), TimeLogModule.forRoot({ caller, attributes })];
    await run('alter table time_logs rename attributes to other');
    await expect(start(withAttributes)).rejects.toThrow(message);
    await run('alter table time_logs rename other to attributes');
    await expect(start(withAttributes)).resolves.toBeUndefined();
  });
});
