import { describe, expect, it } from '@jest/globals';
import { Injectable, Module, type ModuleMetadata } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { TimeLogModule, type TimeLogModuleOptions } from '../../src/embedding/index.js';
import { TimeLogService } from '../../src/time-log/index.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { LOG } from '../support/requests.js';
import { createMigratedDatabase } from '../support/test-database.js';
import { hostDataSource, useHosts } from './embedded.js';

const caller = () => ({
  id: 'ada',
  scopes: ['time-logs:read', 'time-logs:write', 'time-logs:correct'],
});
/** Both ways of giving options. */
type Options = Pick<TimeLogModuleOptions, 'routes'>;
const forRoot = (options: Options = {}) => TimeLogModule.forRoot({ caller, ...options });
const forRootAsync = (options: Options) =>
  TimeLogModule.forRootAsync({ useFactory: () => ({ caller }), ...options });

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

  it('leaves out the log of an id, and creates', async () => {
    await serve([forRoot({ routes: { get: false, record: false } })]);
    expect((await send('/api/v1/time-logs', LOG))[0]).toBe(404);
    expect((await send('/api/v1/time-logs/batch', { timeLogs: [LOG] }))[0]).toBe(404);
    expect((await send('/api/v1/time-logs/019c1363-4a3b-7245-b697-5dec9f548a52'))[0]).toBe(404);
    expect((await send('/api/v1/time-logs/events'))[0]).toBe(200);
  });

  it('injects the services everywhere if the module is global', async () => {
    @Injectable()
    class Report {
      constructor(readonly timeLogs: TimeLogService) {}
    }
    @Module({ providers: [Report] })
    class ReportModule {}
    const app = await serve([ReportModule, TimeLogModule.forRoot({ isGlobal: true, caller })]);
    expect(await app.get(Report).timeLogs.record(LOG)).toMatchObject(LOG);
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
