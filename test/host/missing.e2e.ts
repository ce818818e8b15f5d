import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { TypeOrmModule } from '@nestjs/typeorm';
import { migrate } from '../../src/database/setup/index.js';
import { TimeLogModule } from '../../libs/host-kit/src/index.js';
import { timeLogEntities, timeLogMigrations, TimeLogService } from '../../src/time-log/index.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** Any adapter that is not Express. */
class OtherAdapter extends ExpressAdapter {
  override getType(): string {
    return 'fastify';
  }
}

@Injectable()
class InjectsService {
  constructor(readonly timeLogs: TimeLogService) {}
}

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
  const start = async (imports: ModuleMetadata['imports'] = [], adapter = new ExpressAdapter()) => {
    @Module({ imports })
    class HostModule {}
    const app = await NestFactory.create(HostModule, adapter, { logger: false, abortOnError: false });
    try {
      await app.init();
    } finally {
      await app.close();
    }
  };

  const withoutEntities = () => dataSource(migrated, { autoLoadEntities: false });
  const limits =
    'limits of TimeLogModule must be an object of positive numbers: bodyLimit, batchLimit, deadline, writeQueue, keyLifetime';
  type Case = [string, () => NonNullable<ModuleMetadata['imports']>, RegExp | string, ExpressAdapter?];
  const place = 'pass it next to useFactory of TimeLogModule\\.forRootAsync';
  it.each<Case>([
    [
      'a DataSource',
      () => [TimeLogModule.forRoot({ caller })],
      /^time logs have no DataSource: import TypeOrmModule\.forRoot\(…\), and if it has a name, pass that to TimeLogModule\.forRoot\(\{ dataSource \}\); or pass connection: \{ url \}$/,
    ],
    [
      'the entities',
      () => [withoutEntities(), TimeLogModule.forRoot({ caller })],
      /^the DataSource lacks the entities of time logs: add timeLogEntities to its entities, or set autoLoadEntities and import TimeLogModule\.forRoot\(\{\}\)$/,
    ],
    [
      'access control',
      () => [dataSource(migrated), TimeLogModule],
      /^no access control is configured: import BearerAuthModule\.forRoot\(\{ verifier, realm \}\), set a guard or a caller of your own, or import the same module object that has them$/,
    ],
    ...(
      [
        [
          { routes: {} },
          { principal: caller },
          /^TimeLogModule has no option "principal": it takes dataSource, .*, caller, routes, openApi$/,
        ],
        [{ caller, feed: false }, {}, /^TimeLogModule has no option "feed": it takes /],
        [
          { routes: {} },
          { routes: {} },
          /^routes is also returned by the factory of TimeLogModule\.forRootAsync: pass it once$/,
        ],
        [{}, { dataSource: 'ours' }, RegExp(`^a factory cannot return dataSource: ${place}$`)],
        ...[{ guard: class {} }, { filter: { useExisting: 'ours' } }].map(
          (part) =>
            [{}, part, RegExp(`^a factory cannot return a class or useExisting as \\w+: ${place}$`)] as const,
        ),
        [{}, { attributes: {} }, /^attributes of TimeLogModule must be /],
        [
          { routes: {} },
          null,
          /^the factory of TimeLogModule\.forRootAsync must return an object with options$/,
        ],
        ...[undefined, 'ours', 'postgres://u:7/w@host/x', 'postgres://u:7%w@host/x'].map(
          (url) =>
            [
              {},
              { connection: { url } },
              url === undefined
                ? /^connection\.url must be postgres:.* percent-encoded, but is undefined$/
                : /^connection\.url must be postgres:.* percent-encoded$/,
            ] as const,
        ),
        [
          { dataSource: 'ours' },
          { connection: { url: '' } },
          /^TimeLogModule takes a connection or a dataSource, not both$/,
        ],
      ] as const
    ).map(([passed, returned, message]): Case => [
      `an option that can be used: ${JSON.stringify(returned)} from a factory`,
      () => [
        dataSource(migrated),
        TimeLogModule.forRootAsync({ ...passed, useFactory: () => returned as object }),
      ],
      message,
    ]),
    ...(
      [
        [{ limits: { deadline: '5s' } }, limits],
        [{ limits: { writeQueue: -1 } }, limits],
        [{ limits: { dedline: 5 } }, limits],
        [{ limits: null }, limits],
        [{ hooks: {} }, 'hooks of TimeLogModule must be a class, an object with before or within, or { useE'],
        [{ guard: { useExisting: undefined } }, 'guard of '],
        [{ filter: 'ours' }, 'filter of '],
        [
          { attributes: { ticket: 'string' } },
          'attributes of TimeLogModule must be a Standard Schema, such as',
        ],
        [{ caller: 'ada' }, 'caller of TimeLogModule must be a function that returns the caller'],
        [{ routes: { list: 'no' } }, 'routes of '],
        [{ openApi: true }, 'openApi of TimeLogModule must be false or an object of options'],
        [{ isGlobal: 'yes' }, 'isGlobal of TimeLogModule must be true or false'],
        [
          { hooks: InjectsService },
          'InjectsService injects TimeLogService, which needs these hooks: inject ModuleRef, and call get(Tim',
        ],
        [undefined, 'no access control is configured: '],
      ] as const
    ).map(([options, message]): Case => [
      `a valid option: ${JSON.stringify(options)}`,
      () => [dataSource(migrated), TimeLogModule.forRoot(options as object)],
      message,
    ]),
    [
      'Express',
      () => [dataSource(migrated), TimeLogModule.forRoot({ caller })],
      /^time logs over HTTP require @nestjs\/platform-express: create the app with it, or import TimeLogCoreModule, which has no HTTP$/,
      new OtherAdapter(),
    ],
  ])('%s', async (...[, modules, message, adapter]) => {
    await expect((async () => start(modules(), adapter))()).rejects.toThrow(message);
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
