import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ClientProxy } from '@nestjs/microservices';
import { overTransport, tcpClient } from '../../messages/test-clients.js';
import { LOG } from '../../support/requests.js';
import type { ServiceProcess } from '../../support/service-process.js';
import { unusedPort } from '../../support/unused-port.js';
import { memoryFromNow, served } from './support/abused-service.js';
import { serve } from './support/serve.js';
import { TOKEN } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

/** Megabytes that a service may need. */
const MOST_MEMORY = 320;
/** Milliseconds. */
const WINDOW = 5_000;
const ABUSERS = join(import.meta.dirname, 'support', 'tcp-abusers.fixture.mjs');

describe('a service whose port for messages is abused without a token', () => {
  const postgres = useCluster();
  let port: number;
  let service: ServiceProcess;
  const clients: ClientProxy[] = [];
  afterEach(() => clients.splice(0).forEach((client) => void client.close()));

  /** A client with a token, and a connection of its own. */
  function newClient(): () => Promise<void> {
    const client = tcpClient(port);
    clients.push(client);
    const testClient = overTransport(client);
    return async () => {
      const outcome = await testClient.record({ accessToken: TOKEN, timeLog: LOG });
      expect(outcome).toMatchObject({ answer: { success: true } });
    };
  }

  /** Asks again and again for a while. Returns the milliseconds of each answer of `/livez`. */
  async function goOn(record: () => Promise<void>): Promise<number[]> {
    const times: number[] = [];
    const end = performance.now() + WINDOW;
    const again = async (act: () => Promise<unknown>) => {
      do {
        await act();
        await delay(20);
      } while (performance.now() < end);
    };
    await Promise.all([
      again(async () => times.push(await served(service, '/livez'))),
      again(() => served(service, '/health')),
      again(record),
    ]);
    return times;
  }

  it.each([
    ['wide', 120],
    ['guesses', 20],
    ['large', 20],
  ])(
    `goes on during %s on %d connections: others are served over HTTP and TCP, with less than ${MOST_MEMORY} MB`,
    async (kind, connections) => {
      port = await unusedPort();
      const env = { MESSAGES_URL: `tcp://127.0.0.1:${port}` };
      service = await serve(await postgres.createDatabase(), env);
      const memory = await memoryFromNow(service);
      const record = newClient();
      await record();
      const argument = JSON.stringify({ port, kind, connections });
      const abusers = fork(ABUSERS, [argument], { execArgv: [] });
      const exit = once(abusers, 'exit');
      try {
        await once(abusers, 'message');
        const times = await goOn(record);
        // One who comes only now.
        await newClient()();
        const { peak } = await memory(`${connections} × ${kind}`, times);
        expect(peak).toBeLessThan(MOST_MEMORY);
      } finally {
        abusers.disconnect();
        await exit;
      }
    },
  );
});
