import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../support/fixtures.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { TIME_LOGS } from '../../support/requests.js';
import { eventually } from '../eventually.js';
import { useService } from './support/serve.js';
import { TOKEN } from './support/service-under-writes.js';

const EXPORT = `${TIME_LOGS}/export?format=ndjson`;
const LOGS = 30_000;
const REQUEST = `GET ${EXPORT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
const database = useTestDatabase();
const service = useService(database);
beforeAll(() =>
  queryOnce(
    database.url,
    `insert into time_logs (id, project_id, duration, description, date)
     select ('019c1370-' || lpad(to_hex(n), 4, '0') || '-7000-8000-000000000000')::uuid,
            '0b000000-0000-4000-8000-000000000001', 1, repeat('x', 5000), '2026-01-31'
       from generate_series(1, ${LOGS}) n`,
  ),
);

const running = () =>
  queryOnce<{ pid: number }>(
    database.url,
    `select pid from pg_stat_activity where datname = current_database() and query like 'fetch %' and state = 'idle in transaction'`,
  );
const untilNoneRuns = () => eventually(async () => expect(await running()).toEqual([]));

it('a client that leaves ends the export at the server', async () => {
  const socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
  socket.write(REQUEST);
  await once(socket, 'data');
  socket.pause();
  await eventually(async () => expect(await running()).toHaveLength(1));
  socket.destroy();
  await untilNoneRuns();
});
