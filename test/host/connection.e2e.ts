import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  EventRelayModule,
  eventRelayEntities,
  eventRelayMigrations,
} from '../../libs/event-relay/src/index.js';
import { eventually } from '../support/eventually.js';
import type { TimeLogConnection } from '../../libs/host-kit/src/own-data-source.js';
import { TimeLogCoreModule, TimeLogModule } from '../../libs/host-kit/src/index.js';
import { TimeLogMessagesModule } from '../../libs/messages/src/time-logs/index.js';
import { TimeLogService } from '../../src/time-log/index.js';
import { MemorySink } from '../events/memory-sink.js';
import { overTransport, tcpClient } from '../messages/test-clients.js';
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

const start = async (
  connection: TimeLogConnection,
  over = (timeLogs: DynamicModule) => timeLogs,
): Promise<INestApplicationContext> =>
  NestFactory.createApplicationContext(over(TimeLogCoreModule.forRoot({ connection })), {
    logger: false,
    abortOnError: false,
  });
/** The resources that keep this process alive. */
const handles = () => process.getActiveResourcesInfo().filter((name) => name.endsWith('Wrap')).length;

it('serves a worker, whose start does not migrate unless it is allowed to', async () => {
  const before = handles();
  await expect(start({ url: database.url, migrate: false })).rejects.toThrow(
    /^the database lacks tables or functions of time logs: remove migrate: false of connection, with connection\.migrationUrl if /,
  );
  expect(handles()).toBeLessThanOrEqual(before);
  const app = await start({ url: database.url });
  try {
    expect(await app.get(TimeLogService).record(LOG)).toMatchObject(LOG);
  } finally {
    await app.close();
  }
});

const members = 'url, migrate, migrationUrl, .*, ssl';
it.each<[string, object | string, RegExp]>([
  ['a database', { url: '_missing' }, /^there is no database \S+ at \S+: .* in connection\.url$/],
  ['an option', { uri: '' }, RegExp(`^connection has no option "uri": it takes ${members}$`)],
  ['an object', 'postgres://', /^connection of \w+ must be an object such as \{ url \}$/],
  [
    'a supported schema',
    { schema: 'a"b' },
    /the schema and the entityPrefix of a DataSource .* must not contain /,
  ],
])('ends the start with one line if it lacks %s', async (_what, options, message) => {
  const { url = '' } = options as { url?: string };
  const connection = typeof options === 'string' ? options : { ...options, url: database.url + url };
  await expect(start(connection as TimeLogConnection)).rejects.toThrow(message);
  const schemas = `select from pg_namespace where nspname like 'a%'`;
  expect(await queryOnce(database.url, schemas)).toEqual([]);
});

it('ends the start of a relay without its entities', async () => {
  const relay = start({ url: database.url }, (timeLogs) => EventRelayModule.over(timeLogs, new MemorySink()));
  await expect(relay).rejects.toThrow(
    /^the DataSource lacks the entities of the relay: add eventRelayEntities to /,
  );
});
