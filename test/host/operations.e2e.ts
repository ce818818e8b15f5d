import { AsyncLocalStorage } from 'node:async_hooks';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Registry } from 'prom-client';
import { eventually } from '../support/eventually.js';
import { EventRelayModule, eventRelayEntities } from '../../src/event-relay/index.js';
import { TimeLogHealth, TimeLogModule } from '../../src/embedding/index.js';
import { TimeLogMetrics } from '../../src/metrics/hosts.js';
import { limitsOf, timeLogEntities, TimeLogService } from '../../src/time-log/index.js';
import { MemorySink } from '../events/memory-sink.js';
import { migrateForRelay } from '../events/relay-host.js';
import { LOG } from '../support/requests.js';
import { hostDataSource, useHosts } from './embedded.js';

const hosts = useHosts();
beforeAll(() => migrateForRelay(hosts.database.url));
const caller = () => ({ id: 'ada', scopes: ['time-logs:read', 'time-logs:write'] });
const timeLogs = TimeLogModule.forRoot({ caller });
const NO_ROUTES = {
  ...{ list: false, record: false, totals: false, events: false },
  ...{ export: false, correct: false, delete: false, get: false },
};

it('leaves no statement of the background in the context of the start or of a request', async () => {
  const context = new AsyncLocalStorage<string>();
  const statements: [string, string | undefined][] = [];
  const nothing = () => undefined;
  const logQuery = (sql: unknown) => void statements.push([String(sql), context.getStore()]);
  const logger = {
    ...{ logQuery, logQueryError: nothing, logQuerySlow: nothing },
    ...{ logSchemaBuild: nothing, logMigration: nothing, log: nothing },
  };
  const dataSource = TypeOrmModule.forRoot({
    type: 'postgres',
    url: hosts.database.url,
    entities: [...timeLogEntities, ...eventRelayEntities],
    logging: true,
    logger,
  });
  const relay = EventRelayModule.over(timeLogs, { useValue: new MemorySink() });
  await context.run('start', () =>
    hosts.serve([dataSource, timeLogs, relay], {
      prepare: (app) =>
        app.use((_request: unknown, _response: unknown, next: () => void) => context.run('request', next)),
    }),
  );
  expect((await hosts.send('POST', '/api/v1/time-logs', LOG))[0]).toBe(201);
  expect((await hosts.send('GET', '/api/v1/time-logs'))[0]).toBe(200);
  const contextsOf = (text: string) => {
    const contexts = statements.filter(([sql]) => sql.includes(text)).map(([, store]) => store);
    return [...new Set(contexts)];
  };
  for (const text of ['fold_time_log_counts', 'for update skip locked', 'time_log_relays'])
    await eventually(() => expect([text, contextsOf(text)]).toEqual([text, [undefined]]));
  for (const text of ['insert into "time_logs"', 'page_time_logs'])
    expect([text, contextsOf(text)]).toEqual([text, ['request']]);
});

describe('the health of time logs', () => {
  it.each<[string, 'up' | 'down', () => Promise<void>]>([
    ['answers', 'up', () => Promise.resolve()],
    ['fails', 'down', () => Promise.reject(new Error('away'))],
    ['does not answer', 'down', () => new Promise(() => undefined)],
  ])('of a database that %s is %s', async (_what, status, ping) => {
    const health = new TimeLogHealth({ database: { ping } } as never, limitsOf({ deadline: 100 }));
    expect(await health.isHealthy()).toEqual({ 'time-logs': { status } });
    const outcome = health.check().then(
      () => 'up',
      () => 'down',
    );
    expect(await outcome).toBe(status);
  });
});

it('registers its metrics with the registry of the host, those of two modules together', async () => {
  class PartnerTimeLogs extends TimeLogModule {}
  const partner = PartnerTimeLogs.forRoot({ caller, routes: NO_ROUTES });
  @Module({ imports: [timeLogs, partner], providers: [TimeLogMetrics] })
  class Metrics {}
  const relays = ['first', 'second'].map((name) => {
    const sink = Object.assign(new MemorySink(), { name });
    return EventRelayModule.over(timeLogs, { useValue: sink });
  });
  await hosts.serve([hostDataSource(hosts.database.url), timeLogs, partner, ...relays, Metrics]);
  const registry = new Registry();
  hosts.app.get(TimeLogMetrics).register(registry);
  const services = hosts.app.get(TimeLogService, {
    strict: false,
    each: true,
  });
  expect(new Set(services).size).toBe(2);
  for (const service of new Set(services)) await service.record(LOG);
  const text = await registry.metrics();
  expect(text).toContain('time_log_write_batch_size_count 2\n');
  expect(text).toMatch(/^time_log_write_queue_length 0\n(?:.*\n)*time_log_event_lag_seconds /m);
  expect(text).toMatch(/^database_pool_connections [1-9]/m);
});
