import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { LOG, TIME_LOGS } from '../support/requests.js';
import { allOutputOf, type ServiceProcess, startService } from '../support/service-process.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';
import { unusedPort } from '../support/unused-port.js';
import { overTransport } from './doors.js';

const host = '127.0.0.1';
const accessToken = 'a-declared-token-of-32-characters';
const CALLER = expect.stringMatching(/^declared:[0-9a-f]{16}$/);
const TRACE = 'ab'.repeat(16);
const TRACEPARENT = `00-${TRACE}-${'cd'.repeat(8)}-01`;

interface Line {
  readonly msg?: string;
  readonly traceId?: string;
  readonly requestId?: string;
}

describe('the log of a service with messages', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createMigratedDatabase();
  });
  afterAll(() => database.drop());

  /** The lines of the requests and messages of some work, in the order of their answers. */
  async function linesOf(
    env: Record<string, string>,
    work: (service: ServiceProcess, client: ClientProxy) => Promise<unknown>,
  ): Promise<Line[]> {
    const port = await unusedPort();
    const service = await startService({
      DATABASE_URL: database.url,
      ACCESS_TOKEN: accessToken,
      NODE_ENV: 'production',
      LOG_LEVEL: 'debug',
      MESSAGES_URL: `tcp://${host}:${port}`,
      ...env,
    });
    const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host, port } });
    client.setOnDispatchHook((packet) => {
      packet.metadata = { traceparent: TRACEPARENT, 'x-request-id': 'of-the-caller' };
    });
    await work(service, client);
    await client.close();
    await service.end();
    await allOutputOf(service);
    const lines = service.output().trimEnd().split('\n');
    return lines
      .map((line) => JSON.parse(line) as Line)
      .filter(({ msg }) => msg === 'message' || msg === 'request');
  }

  it('has a line for each message: its pattern and caller, what was wrong, and nothing else that was sent', async () => {
    const lines = await linesOf({}, async (_service, client) => {
      const door = overTransport(client);
      await door.record({ accessToken, timeLog: LOG });
      await door.list({ accessToken, query: { secret: 'x', page: 0 } });
      await door.list({ accessToken: 'a-secret-that-is-wrong' });
      await door.list('no object');
    });
    const common = {
      time: expect.any(String),
      pid: expect.any(Number),
      hostname: expect.any(String),
      requestId: 'of-the-caller',
      milliseconds: expect.any(Number),
      msg: 'message',
    };
    expect(lines).toEqual([
      {
        ...common,
        level: 'debug',
        pattern: 'time-log.record.v1',
        caller: CALLER,
        change: 'record',
        timeLog: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
      {
        ...common,
        level: 'info',
        pattern: 'time-log.list.v1',
        error: 'VALIDATION_ERROR',
        reason: 'page must be a whole number from 1 to 2^53-1; unknown field',
        caller: CALLER,
      },
      ...[1, 2].map(() => ({
        ...common,
        level: 'info',
        pattern: 'time-log.list.v1',
        error: 'UNAUTHORIZED',
        reason: 'a valid bearer token is required',
      })),
    ]);
  });

  it('names the trace of a request and of a message where OpenTelemetry is loaded', async () => {
    const fixture = join(import.meta.dirname, 'tracing.fixture.mjs');
    const lines = await linesOf({ NODE_OPTIONS: `--import=${fixture}` }, async ({ url }, client) => {
      const headers = { traceparent: TRACEPARENT, authorization: `Bearer ${accessToken}` };
      await (await fetch(url + TIME_LOGS, { headers })).text();
      await overTransport(client).record({ accessToken, timeLog: LOG });
      await overTransport(client).record({ accessToken: 'wrong', timeLog: LOG });
      client.setOnDispatchHook(() => undefined);
      await overTransport(client).list({ accessToken });
    });
    expect(lines.map(({ msg, traceId }) => [msg, traceId])).toEqual([
      ['request', TRACE],
      ['message', TRACE],
      ['message', TRACE],
      ['message', expect.stringMatching(/^(?!(ab){16})[0-9a-f]{32}$/)],
    ]);
  });
});
