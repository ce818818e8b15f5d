import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { type INestApplicationContext, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  EventRelayModule,
  eventRelayEntities,
  eventRelayMigrations,
} from '../../libs/event-relay/src/index.js';
import { eventually } from '../../libs/host-kit/src/contract/eventually.js';
import { TimeLogCoreModule, TimeLogModule } from '../../libs/host-kit/src/index.js';
import { TimeLogMessagesModule } from '../../libs/messages/src/time-logs/index.js';
import { TimeLogService } from '../../src/time-log/index.js';
import { MemorySink } from '../events/memory-sink.js';
import { overTransport, tcpClient } from '../messages/doors.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { LOG } from '../support/requests.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { tcpPortOf, useHosts } from './embedded.js';

/* Hosts without TypeORM pass a connection, to an empty database. */

const hosts = useHosts();
let database: TestDatabase;
const caller = () => ({ id: 'ada', scopes: ['time-logs:read', 'time-logs:write'] });

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await hosts.close();
  await database.drop();
});

it('migrates a schema of its own, and serves all routes, messages and a relay from it', async () => {
  const relay = { entities: eventRelayEntities, migrations: eventRelayMigrations };
  const connection = { url: database.url, schema: 'Of logs', ...relay };
  const timeLogs = TimeLogModule.forRootAsync({ useFactory: () => ({ connection, caller }) });
  const sink = new MemorySink();
  const modules = [timeLogs, TimeLogMessagesModule.over(timeLogs), EventRelayModule.over(timeLogs, sink)];
  await hosts.serve(modules, { hasMessages: true });
  expect(await hosts.send('POST', '/api/v1/time-logs', LOG)).toMatchObject([201, { data: LOG }]);
  for (const path of ['', '/totals', '/events'])
    expect(await hosts.send('GET', `/api/v1/time-logs${path}`)).toMatchObject([200, {}]);
  const client = tcpClient(tcpPortOf(hosts.app));
  expect(await overTransport(client, () => undefined).list({})).toMatchObject({
    answer: { meta: { total: 1 } },
  });
  await client.close();
  await eventually(() => expect(sink.kept).toHaveLength(1));
  const [row] = await queryOnce(database.url, 'select count(*)::int from "Of logs".time_logs');
  expect(row).toEqual({ count: 1 });

  await hosts.close();
  const pools = `select from pg_stat_activity where usename = current_user and application_name = 'time-logs'`;
  await eventually(async () => expect(await queryOnce(database.url, pools)).toEqual([]));
});

const start = (connection: { url: string; migrate?: boolean }): Promise<INestApplicationContext> =>
  NestFactory.createApplicationContext(TimeLogCoreModule.forRoot({ connection, readReplica: true }), {
    logger: false,
    abortOnError: false,
  });

it('serves a worker, whose start does not migrate unless it is allowed to', async () => {
  await expect(start({ url: database.url, migrate: false })).rejects.toThrow(
    'the database lacks tables or functions of time logs',
  );
  const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
  const app = await start({ url: database.url });
  try {
    expect(warn.mock.calls).toEqual([
      [
        'readReplica has no effect, as the DataSource has no replicas: set its replication, or remove readReplica',
      ],
    ]);
    expect(await app.get(TimeLogService).record(LOG)).toMatchObject(LOG);
  } finally {
    warn.mockRestore();
    await app.close();
  }
});

it('ends the start with one line if the database cannot be used', async () => {
  const url = `${database.url}_missing`;
  await expect(start({ url })).rejects.toThrow(/^there is no database \S+ at \S+: .* in connection\.url$/);
});
