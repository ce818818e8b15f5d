import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import { list, LOG } from '../support/requests.js';
import { startHere } from '../support/service-here.js';
import { allOutputOf, startService } from '../support/service-process.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';
import { unusedPort } from '../support/unused-port.js';
import { overTransport } from './doors.js';

const host = '127.0.0.1';
const accessToken = 'a-declared-token-of-32-characters';

describe('the service with MESSAGES_URL', () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  beforeAll(async () => {
    database = await createMigratedDatabase();
    env = { DATABASE_URL: database.url, ACCESS_TOKEN: accessToken };
  });
  afterAll(() => database.drop());

  it('records over TCP what it lists over HTTP, and answers all that is under way when it is ended', async () => {
    const port = await unusedPort();
    const service = await startService({ ...env, MESSAGES_URL: `tcp://${host}:${port}` });
    const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host, port } });
    const door = overTransport(client);
    expect(await door.record({ accessToken, timeLog: LOG })).toMatchObject({ answer: { success: true } });
    const answer = await list({ port: service.port, token: accessToken });
    expect(answer.body).toMatchObject({ meta: { total: 1 } });
    const outcomes = Array.from({ length: 200 }, () => door.record({ accessToken, timeLog: LOG }));
    await Promise.race(outcomes);
    const ended = service.end();
    const kinds = (await Promise.all(outcomes)).map((outcome) =>
      'answer' in outcome ? 'answer' : (outcome.error as { error?: string }).error,
    );
    expect(kinds.filter((kind) => kind !== 'answer' && kind !== 'SERVICE_UNAVAILABLE')).toEqual([]);
    expect(await ended).toBe(0);
    client.close();
  });

  it('loads the driver of a broker where it is asked for, none else, and nothing that makes documents', async () => {
    const fixture = join(import.meta.dirname, 'resolutions.fixture.mjs');
    const resolved = async (more: Record<string, string>) => {
      const service = await startService({ ...env, ...more, NODE_OPTIONS: `--import=${fixture}` });
      await service.end();
      await allOutputOf(service);
      const names = service.output().match(/(?<=^resolved ).+$/gm) ?? [];
      expect(names).toContain('@nestjs/core');
      return names.filter((name) => /nats-io|amqp|swagger/.test(name));
    };
    expect(await resolved({})).toEqual([]);
    expect(await resolved({ MESSAGES_URL: `nats://${host}:${await unusedPort()}` })).toContain(
      '@nats-io/transport-node',
    );
  });

  it('takes messages for SHUTDOWN_DELAY seconds, while readyz already refuses', async () => {
    const port = await unusedPort();
    const service = await startHere({
      ...env,
      MESSAGES_URL: `tcp://${host}:${port}`,
      SHUTDOWN_DELAY: '3',
    });
    const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host, port } });
    const door = overTransport(client);
    const ended = service.end();
    while ((await fetch(`${service.url}/readyz`)).status !== 503);
    expect(await door.record({ accessToken, timeLog: LOG })).toMatchObject({ answer: { success: true } });
    await ended;
    client.close();
  });

  it('ends with one line where the address is taken', async () => {
    const taken = createServer().listen(0, host);
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    await expect(startHere({ ...env, MESSAGES_URL: `tcp://${host}:${port}` })).rejects.toThrow(
      `messages: tcp://127.0.0.1:${port} cannot be taken (EADDRINUSE): set MESSAGES_URL to an address of this machine with a free port`,
    );
    taken.close();
  });

  it.each(['http://x:1', 'tcp://x', 'nats:', 'x'])(
    'starts with no URL but one of the three: %s',
    async (url) => {
      await expect(startHere({ ...env, MESSAGES_URL: url })).rejects.toThrow(
        /^MESSAGES_URL: must be tcp:\/\/HOST:PORT, nats:\/\/HOST:PORT or amqp:\/\/USER:PASSWORD@HOST:PORT$/,
      );
    },
  );
});
