import { describe, expect, it, jest } from '@jest/globals';
import {
  Controller,
  Get,
  type INestApplication,
  Injectable,
  Logger,
  Module,
  type ModuleMetadata,
  Scope,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { Express } from 'express';
import {
  TimeLogCoreModule,
  type TimeLogHooks,
  TimeLogModule,
  type TimeLogModuleOptions,
} from '../../libs/host-kit/src/index.js';
import { TimeLogService } from '../../src/time-log/index.js';
import { TimeLogMessagesModule } from '../../libs/messages/src/time-logs/index.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { LOG } from '../support/requests.js';
import { createMigratedDatabase } from '../support/test-database.js';
import { hostDataSource, useHosts } from './embedded.js';

const caller = () => ({
  id: 'ada',
  scopes: ['time-logs:read', 'time-logs:write', 'time-logs:correct'],
});
/** The arguments of both ways of giving options. */
type Options = Pick<TimeLogModuleOptions, 'routes'>;
const forRoot = (options: Options = {}) => TimeLogModule.forRoot({ caller, ...options });
const forRootAsync = (options: Options) =>
  TimeLogModule.forRootAsync({ useFactory: () => ({ caller }), ...options });
const byFactory = ({ routes }: Options) =>
  TimeLogModule.forRootAsync({ useFactory: () => ({ caller, routes }) });

describe('a host that composes', () => {
  const hosts = useHosts();
  const dataSource = () => hostDataSource(hosts.database.url);
  const serve = (imports: NonNullable<ModuleMetadata['imports']>) => hosts.serve([dataSource(), ...imports]);
  const send = (path: string, log?: object, method = log ? 'POST' : 'GET') => hosts.send(method, path, log);
  const documentOf = () => SwaggerModule.createDocument(hosts.app, new DocumentBuilder().build());

  describe('leaves routes out', () => {
    const without = {
      ...{ recordAll: false, events: false, export: false, correct: false, delete: false },
      get: true,
    } as const;

    it.each([
      ['forRoot', forRoot],
      ['forRootAsync', forRootAsync],
      ['the factory of forRootAsync', byFactory],
    ])('of %s, and of its documentation', async (_name, make) => {
      await serve([make({ routes: without })]);
      const [status, { data }] = await send('/api/v1/time-logs', LOG);
      expect(status).toBe(201);
      const { id } = data!;
      expect(await send(`/api/v1/time-logs/${id}`)).toMatchObject([200, { data: LOG }]);
      expect((await send('/api/v1/time-logs'))[0]).toBe(200);
      // Only the route of one log remains there.
      expect(await send('/api/v1/time-logs/events')).toMatchObject([400, { message: 'id must be a UUID' }]);
      for (const method of ['PUT', 'PATCH', 'DELETE'])
        expect((await send(`/api/v1/time-logs/${id}`, LOG, method))[0]).toBe(404);
      expect(
        Object.entries(documentOf().paths).map(([path, operations]) => [path, ...Object.keys(operations)]),
      ).toEqual([
        ['/api/v1/time-logs/totals', 'get'],
        ['/api/v1/time-logs', 'get', 'post'],
        ['/api/v1/time-logs/{id}', 'get'],
      ]);
    });

    it('and refuses a request-scoped hook', async () => {
      @Injectable({ scope: Scope.REQUEST })
      class HooksOfARequest implements TimeLogHooks {
        before(): void {
          // Nothing to refuse.
        }
      }
      const options = { caller, hooks: HooksOfARequest };
      await expect(serve([TimeLogModule.forRoot({ ...options, routes: without })])).rejects.toThrow(
        'routes of TimeLogModule cannot be disabled if one of its hooks, guards or filters is request-scoped',
      );
      await serve([TimeLogModule.forRoot(options)]);
      expect((await send('/api/v1/time-logs', LOG))[0]).toBe(201);
    });

    it('and refuses an unknown name', async () => {
      const routes = { feed: false } as TimeLogModuleOptions['routes'];
      await expect(serve([forRoot({ routes })])).rejects.toThrow(
        'time logs have no route "feed": routes takes list, record, recordAll, totals, events, export, get, correct, patch, delete',
      );
    });
  });

  it('injects the services everywhere if the module is global', async () => {
    @Injectable()
    class Report {
      constructor(readonly timeLogs: TimeLogService) {}
    }
    @Module({ providers: [Report] })
    class ReportModule {}
    const app = await serve([ReportModule, TimeLogCoreModule.forRoot({ isGlobal: true })]);
    expect(await app.get(Report).timeLogs.record(LOG)).toMatchObject(LOG);
  });

  describe('mounts modules in an order that matters', () => {
    @Controller('time-logs')
    class ReportController {
      @Get('report')
      report(): object {
        return {};
      }
      @Get('*rest')
      rest(): object {
        return {};
      }
    }
    @Module({ controllers: [ReportController] })
    class ReportModule {}
    const routes = RouterModule.register([{ path: 'api/v1', module: ReportModule }]);
    const timeLogs = forRoot();
    const prepare = (app: INestApplication, prefix: string) => {
      const express = app.getHttpAdapter().getInstance() as Express;
      for (const path of [/^\/x$/, ['/y']]) express.get(path, (_request, response) => response.end());
      app.setGlobalPrefix(prefix);
    };

    it.each<[string, NonNullable<ModuleMetadata['imports']>, string, string, string[]]>([
      ['first, and finds its route', [ReportModule, timeLogs], '', '/api/v1', []],
      [
        'after ours, and is warned that no request reaches it',
        [timeLogs, ReportModule],
        '',
        '/api/v1',
        [
          'no request reaches GET /api/v1/time-logs/report, since GET /api/v1/time-logs/:id of TimeLogModule comes first: import the module with that route before TimeLogModule',
        ],
      ],
      [
        'below a global prefix, and is warned that its path repeats it',
        [ReportModule, timeLogs],
        'api',
        '/api/api/v1',
        [
          'time logs are at /api/api/v1/time-logs: the global prefix also precedes the path in RouterModule, so leave /api out of one of them',
        ],
      ],
    ])('%s', async (_name, modules, prefix, path, warnings) => {
      const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
      try {
        await hosts.serve([dataSource(), ...modules, routes], { prepare: (app) => prepare(app, prefix) });
        const messages = warn.mock.calls.map(([message]) => message as string);
        // TypeOrmModule warns of the DataSources of earlier hosts.
        expect(messages.filter((message) => !message.startsWith('A data source'))).toEqual(warnings);
      } finally {
        warn.mockRestore();
      }
      const isReached = modules[0] === ReportModule;
      expect((await send(`${path}/time-logs/report`))[0]).toBe(isReached ? 200 : 400);
      expect((await send(`${path}/time-logs`))[0]).toBe(200);
    });
  });

  describe('has two tenants', () => {
    class OtherTimeLogModule extends TimeLogModule {}
    const first = () => forRoot();
    const second = (module = OtherTimeLogModule, routes?: TimeLogModuleOptions['routes']) =>
      module.forRoot({ caller, routes });
    const write = { record: false, recordAll: false, correct: false, patch: false, delete: false };
    const none = { ...write, totals: false, events: false, export: false, get: false };
    const secondAt = (path: string) => RouterModule.register([{ path, module: OtherTimeLogModule }]);

    it('in two DataSources, as a class each, which it mounts apart', async () => {
      const database = await createMigratedDatabase();
      try {
        const logs = OtherTimeLogModule.forRoot({ dataSource: 'other', caller });
        await serve([hostDataSource(database.url, 'other'), forRoot(), logs, secondAt('others')]);
        const list = await send('/api/v1/time-logs');
        expect(await send('/others/time-logs', LOG)).toMatchObject([201, {}]);
        expect(await send('/api/v1/time-logs')).toEqual(list);
        expect(await send('/others/time-logs')).toMatchObject([200, { meta: { total: 1 } }]);
        const service = hosts.app.select(logs).get(TimeLogService);
        expect(await service.list()).toMatchObject({ total: 1 });
        expect(await queryOnce(database.url, 'select from time_logs')).toHaveLength(1);
      } finally {
        await hosts.close();
        await database.drop();
      }
    });

    it('and does not start where they have one route, of which the second would never be asked', async () => {
      await expect(serve([first(), second(), secondAt('api/v1')])).rejects.toThrow(
        /^the modules TimeLogModule and OtherTimeLogModule both serve GET \/api\/v1\/time-logs: .*RouterModule$/,
      );
      await expect(serve([first(), second(TimeLogModule)])).rejects.toThrow(
        'the modules TimeLogModule and TimeLogModule both serve GET /api/v1/time-logs',
      );
      const totals = second(OtherTimeLogModule, { ...none, list: false, totals: true });
      await expect(serve([first(), totals, secondAt('api/v1')])).rejects.toThrow(
        'the modules TimeLogModule and OtherTimeLogModule both serve GET /api/v1/time-logs/totals',
      );
    });

    it('and starts where they have one path, but no route in common', async () => {
      const records = second(OtherTimeLogModule, { ...none, list: false, record: true });
      const lists = forRoot({ routes: none });
      await serve([lists, records, secondAt('api/v1')]);
      expect(await send('/api/v1/time-logs', LOG)).toMatchObject([201, {}]);
      expect((await send('/api/v1/time-logs'))[0]).toBe(200);
    });

    it('and does not start where both answer messages, which would all go to the second', async () => {
      const logs = first();
      const others = second();
      const messages = [logs, others].map((each) => TimeLogMessagesModule.over(each));
      await expect(serve([logs, others, secondAt('others'), ...messages])).rejects.toThrow(
        /^the modules \w+ and \w+ both answer time-log.record.v1 and the other patterns: /,
      );
    });
  });
});
