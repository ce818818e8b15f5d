import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ClientProxy } from '@nestjs/microservices';
import { eventually } from '../support/eventually.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { create, list, LOG } from '../support/requests.js';
import { startHere } from '../support/service-here.js';
import { allOutputOf, type ServiceProcess, startService } from '../support/service-process.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';
import { unusedPort } from '../support/unused-port.js';
import { overTransport, tcpClient } from './test-clients.js';

const host = '127.0.0.1';
const accessToken = 'a-declared-token-of-32-characters';
const CALLER = expect.stringMatching(/^declared:[0-9a-f]{16}$/);

interface Line {
  readonly msg?: string;
}

let database: TestDatabase;
let env: Record<string, string>;
let client: ClientProxy | undefined;
beforeAll(async () => {
  database = await createMigratedDatabase();
  env = { DATABASE_URL: database.url, ACCESS_TOKEN: accessToken };
});
afterEach(async () => {
  await client?.close();
});
afterAll(() => database.drop());

describe('the service with MESSAGES_URL', () => {
  let service: ServiceProcess;
  let port: number;
  const start = (messagesPort: number, options: Record<string, string> = {}) =>
    startService({
      ...env,
      NODE_ENV: 'production',
      LOG_LEVEL: 'debug',
      MESSAGES_URL: `tcp://${host}:${messagesPort}`,
      ...options,
    });
  beforeAll(async () => {
    port = await unusedPort();
    service = await start(port);
  });
  afterAll(() => service.end());

  /** Returns the lines of the messages of some work, once their number is reached. */
  async function linesOf(count: number, work: () => Promise<unknown>): Promise<Line[]> {
    const lines = () =>
      [...service.output().matchAll(/^[{].*[}]$/gm)]
        .map(([line]) => JSON.parse(line) as Line)
        .filter(({ msg }) => msg === 'message');
    const before = lines().length;
    await work();
    return eventually(() => {
      const further = lines().slice(before);
      expect(further).toHaveLength(count);
      return further;
    });
  }
  /** Sends messages with the id of a caller. */
  const named = (proxy: ClientProxy) => {
    proxy.setOnDispatchHook((packet) => {
      packet.metadata = { 'x-request-id': 'of-the-caller' };
    });
    return overTransport(proxy);
  };

  it('logs a line for each message: its pattern and caller, what was wrong, and nothing else that was sent', async () => {
    const proxy = (client = tcpClient(port));
    const testClient = named(proxy);
    const lines = await linesOf(4, async () => {
      await testClient.record({ accessToken, timeLog: LOG });
      await testClient.list({ accessToken, query: { secret: 'x', page: 0 } });
      await testClient.list({ accessToken: 'a-secret-that-is-wrong' });
      await testClient.list('no object');
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

  it('records over TCP what it lists over HTTP, answers all that is under way when it is ended, and has loaded no driver of a broker, and nothing that makes documents', async () => {
    const ownPort = await unusedPort();
    const own = await start(ownPort, {
      NODE_OPTIONS: `--import=${join(import.meta.dirname, 'resolutions.fixture.mjs')}`,
    });
    const testClient = overTransport((client = tcpClient(ownPort)));
    const target = { port: own.port, token: accessToken };
    const before = ((await list(target)).body as { meta: { total: number } }).meta.total;
    expect(await testClient.record({ accessToken, timeLog: LOG })).toMatchObject({
      answer: { success: true },
    });
    expect((await list(target)).body).toMatchObject({ meta: { total: before + 1 } });
    const outcomes = Array.from({ length: 200 }, () => testClient.record({ accessToken, timeLog: LOG }));
    await Promise.race(outcomes);
    const ended = own.end();
    const kinds = (await Promise.all(outcomes)).map((outcome) =>
      'answer' in outcome ? 'answer' : (outcome.error as { error?: string }).error,
    );
    expect(kinds.filter((kind) => kind !== 'answer' && kind !== 'SERVICE_UNAVAILABLE')).toEqual([]);
    expect(await ended).toBe(0);
    await allOutputOf(own);
    const names = own.output().match(/(?<=^resolved ).+$/gm) ?? [];
    expect(names).toContain('@nestjs/core');
    expect(names.filter((name) => /nats-io|amqp|swagger/.test(name))).toEqual([]);
  });
});

describe('the service with MESSAGES_URL, in this process', () => {
  it('takes messages for SHUTDOWN_DELAY seconds, while readyz already refuses', async () => {
    const port = await unusedPort();
    const service = await startHere({ ...env, MESSAGES_URL: `tcp://${host}:${port}`, SHUTDOWN_DELAY: '3' });
    const testClient = overTransport((client = tcpClient(port)));
    const ended = service.end();
    while ((await fetch(`${service.url}/readyz`)).status !== 503);
    expect(await testClient.record({ accessToken, timeLog: LOG })).toMatchObject({
      answer: { success: true },
    });
    await ended;
  });

  it('ends with one line where the address is taken', async () => {
    const taken = createServer().listen(0, host);
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    await expect(startHere({ ...env, MESSAGES_URL: `tcp://${host}:${port}` })).rejects.toThrow(
      `messages: cannot listen on tcp://127.0.0.1:${port} (EADDRINUSE): set MESSAGES_URL to an address of this machine with a free port`,
    );
    taken.close();
  });
});

describe('the service with EVENTS_URL', () => {
  it('serves while the broker is away, says so in one line, and gives its lease up when it is ended', async () => {
    const address = `127.0.0.1:${await unusedPort()}`;
    const service = await startHere({ ...env, EVENTS_URL: `nats://someone:secret@${address}` });
    const target = { port: service.port, token: accessToken };
    expect((await create(target)).status).toBe(201);
    const waits = () => service.written.log.split('\n').filter((line) => line.includes('events wait'));
    await eventually(() => expect(waits()).toHaveLength(1));
    expect(JSON.parse(waits()[0]!)).toMatchObject({
      level: 'error',
      context: 'EventRelay',
      msg: expect.stringMatching(`^events wait for nats://${address}: NATS is out of reach or refuses `),
    });
    expect((await list(target)).body).toMatchObject({ success: true });
    const lease = () =>
      queryOnce<{ sink: string; isFree: boolean }>(
        database.url,
        'select sink, leased_until <= clock_timestamp() as "isFree" from time_log_relays',
      );
    expect(await lease()).toEqual([{ sink: `nats://${address}`, isFree: false }]);
    await service.end();
    expect(await lease()).toEqual([{ sink: `nats://${address}`, isFree: true }]);
    expect(waits()).toHaveLength(1);
    expect(service.written.log).not.toContain('secret');
  });
});
