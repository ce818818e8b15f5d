import { describe, expect, it } from '@jest/globals';
import type { ModuleMetadata } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TimeLogModule, type TimeLogModuleOptions } from '../../src/embedding/index.js';
import { TimeLogService } from '../../src/time-log/index.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { LOG } from '../support/requests.js';
import { createMigratedDatabase, createTestDatabase } from '../support/test-database.js';
import { hostDataSource, useHosts } from './embedded.js';

const caller = () => ({
  id: 'ada',
  scopes: ['time-logs:read', 'time-logs:write', 'time-logs:correct'],
});
/** Both ways of giving options. */
type Options = Pick<TimeLogModuleOptions, 'routes'>;
const forRoot = (options: TimeLogModuleOptions = {}) => TimeLogModule.forRoot({ caller, ...options });
const forRootAsync = (options: Options) =>
  TimeLogModule.forRootAsync({ useFactory: () => ({ caller }), ...options });

/** Nest needs these options before it calls a factory, so their types refuse them there. */
export const refused = {
  // @ts-expect-error -- a guard that is dropped would let everybody pass
  guard: () => TimeLogModule.forRootAsync({ useFactory: () => ({ guard: { canActivate: () => false } }) }),
  // @ts-expect-error -- and nothing would be left out
  routes: () => TimeLogModule.forRootAsync({ useFactory: () => ({ routes: { list: false } }) }),
};

class PartnerTimeLogModule extends TimeLogModule {}
const partnerTimeLogs = PartnerTimeLogModule.forRoot({
  dataSource: 'partner',
  source: '/partner/v1/time-logs',
  routes: { correct: false, delete: false, events: false },
  caller,
});

describe('a host that composes', () => {
  const hosts = useHosts();
  const dataSource = () => hostDataSource(hosts.database.url);
  const serve = (imports: NonNullable<ModuleMetadata['imports']>) => hosts.serve([dataSource(), ...imports]);
  const send = (path: string, log?: object, method = log ? 'POST' : 'GET') => hosts.send(method, path, log);

  it.each([
    ['forRoot', forRoot],
    ['forRootAsync', forRootAsync],
  ])('leaves out capabilities by %s: their paths are 404', async (_name, make) => {
    await serve([make({ routes: { events: false, export: false, correct: false, delete: false } })]);
    const [status, { data }] = await send('/api/v1/time-logs', LOG);
    expect(status).toBe(201);
    const log = `/api/v1/time-logs/${data!.id}`;
    expect(await send(log)).toMatchObject([200, { data: LOG }]);
    expect((await send('/api/v1/time-logs/totals'))[0]).toBe(200);
    const leftOut = [
      ...[send('/api/v1/time-logs/events'), send('/api/v1/time-logs/export')],
      ...['PUT', 'PATCH', 'DELETE'].map((method) => send(log, LOG, method)),
    ];
    for (const response of await Promise.all(leftOut)) expect(response).toMatchObject([404, {}]);
    expect(Object.keys(hosts.app.get(TimeLogModule).openApiPaths('').paths)).toEqual([
      '/time-logs',
      '/time-logs/batch',
      '/time-logs/totals',
      '/time-logs/{id}',
    ]);
  });

  it('leaves out each path that has its own, also where that of an id stays', async () => {
    await serve([forRoot()]);
    const paths = Object.keys(hosts.app.get(TimeLogModule).openApiPaths('/api/v1').paths);
    const own = paths.filter((path) => !path.includes('{') && path !== '/api/v1/time-logs');
    await hosts.close();
    await serve([forRoot({ routes: { totals: false, events: false, export: false, record: false } })]);
    const outcomes = Object.fromEntries(
      await Promise.all(own.map(async (path) => [path, (await send(path))[0]] as const)),
    );
    expect(outcomes).toEqual({
      '/api/v1/time-logs/batch': 404,
      '/api/v1/time-logs/events': 404,
      '/api/v1/time-logs/export': 404,
      '/api/v1/time-logs/totals': 404,
    });
  });

  it('leaves out the log of an id, and creates', async () => {
    await serve([forRoot({ routes: { get: false, record: false } })]);
    expect((await send('/api/v1/time-logs', LOG))[0]).toBe(404);
    expect((await send('/api/v1/time-logs/batch', { timeLogs: [LOG] }))[0]).toBe(404);
    expect((await send('/api/v1/time-logs/019c1363-4a3b-7245-b697-5dec9f548a52'))[0]).toBe(404);
    expect((await send('/api/v1/time-logs/events'))[0]).toBe(200);
  });

  it('has two tenants in two DataSources, as a class each, which it mounts apart', async () => {
    const database = await createMigratedDatabase();
    const imports = [
      hostDataSource(database.url, 'partner'),
      forRoot(),
      partnerTimeLogs,
      RouterModule.register([{ path: 'partner/v1', module: PartnerTimeLogModule }]),
    ];
    try {
      await serve(imports);
      const list = await send('/api/v1/time-logs');
      const [status, { data }] = await send('/partner/v1/time-logs', LOG);
      expect(status).toBe(201);
      expect(await send('/api/v1/time-logs')).toEqual(list);
      expect(await send('/partner/v1/time-logs')).toMatchObject([200, { meta: { total: 1 } }]);
      expect((await send(`/partner/v1/time-logs/${data!.id}`, LOG, 'PUT'))[0]).toBe(404);
      const service = hosts.app.select(partnerTimeLogs).get(TimeLogService);
      expect(await service.list()).toMatchObject({ total: 1 });
      expect(await queryOnce(database.url, 'select from time_logs')).toHaveLength(1);
    } finally {
      await hosts.close();
      await database.drop();
    }
  });
});

describe('a host that lacks something ends its start and says what to do', () => {
  const hosts = useHosts();
  const lacks = (imports: () => NonNullable<ModuleMetadata['imports']>) =>
    expect((async () => hosts.serve(imports()))()).rejects;

  it('the entities', async () => {
    const dataSource = TypeOrmModule.forRoot({ type: 'postgres', url: hosts.database.url });
    await lacks(() => [dataSource, forRoot()]).toThrow(
      /^the DataSource lacks the entities of time logs: add timeLogEntities to its entities, or set autoLoadEntities and import TimeLogModule\.forRoot\(\{\}\)$/,
    );
  });

  it('access control', async () => {
    await lacks(() => [hostDataSource(hosts.database.url), TimeLogModule.forRoot({})]).toThrow(
      /^no access control is configured: import BearerAuthModule\.forRoot\(\{ verifier, realm \}\), set a guard or a caller of your own, or import the same module object that has them$/,
    );
  });

  it('a Standard Schema', async () => {
    await lacks(() => [hostDataSource(hosts.database.url), forRoot({ attributes: {} as never })]).toThrow(
      '~standard',
    );
  });

  it('the tables, or a function', async () => {
    const empty = await createTestDatabase();
    const message =
      /^the database lacks tables or functions of time logs: add timeLogMigrations to the migrations of the DataSource, and run them$/;
    const run = (sql: string) => queryOnce(hosts.database.url, sql);
    const validate = (value: unknown) => ({ value });
    const attributes = { '~standard': { version: 1, vendor: 'host', validate } } as const;
    await lacks(() => [hostDataSource(empty.url), forRoot()]).toThrow(message);
    for (const [options, renamed, back] of [
      [{}, 'function page_time_logs rename to another', 'function another rename to page_time_logs'],
      [
        { attributes },
        'table time_logs rename attributes to other',
        'table time_logs rename other to attributes',
      ],
    ] as const) {
      const modules = () => [hostDataSource(hosts.database.url), forRoot(options)];
      await run(`alter ${renamed}`);
      await lacks(modules).toThrow(message);
      await run(`alter ${back}`);
      await hosts.serve(modules());
    }
    await empty.drop();
  });
});
