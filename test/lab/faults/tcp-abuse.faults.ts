import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ClientProxy } from '@nestjs/microservices';
import { overTransport, tcpClient } from '../../messages/doors.js';
import { LOG } from '../../support/requests.js';
import type { ServiceProcess } from '../../support/service-process.js';
import { unusedPort } from '../../support/unused-port.js';
import { eventually } from '../eventually.js';
import { memoryFromNow, served, startAbusers } from './support/abused-service.js';
import { filesOf } from './support/process-usage.js';
import { serve } from './support/serve.js';
import { TOKEN } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

/** Megabytes that a service may need. */
const MOST_MEMORY = 320;
/** Milliseconds. */
const WINDOW = 5_000;
/** Descriptors that processes have on many machines. */
const DESCRIPTORS = 1_024;
/** Sockets and files that come and go with a client and the pool. */
const OWN_FILES = 20;

describe('a service whose port for messages is abused without a token', () => {
  const postgres = useCluster();
  let port: number;
  let service: ServiceProcess;
  const clients: ClientProxy[] = [];
  afterEach(() => clients.splice(0).forEach((client) => void client.close()));

  async function start(wrapper?: readonly string[]) {
    port = await unusedPort();
    const env = { MESSAGES_URL: `tcp://127.0.0.1:${port}` };
    service = await serve(await postgres.createDatabase(), env, wrapper);
    return memoryFromNow(service);
  }

  /** A client with a token, and a connection of its own. */
  function newClient(): () => Promise<void> {
    const client = tcpClient(port);
    clients.push(client);
    const door = overTransport(client);
    return async () => {
      const outcome = await door.record({ accessToken: TOKEN, timeLog: LOG });
      expect(outcome).toMatchObject({ answer: { success: true } });
    };
  }

  /** Does something while abusers of a kind are at work. */
  async function beside(kind: string, connections: number, work: () => Promise<void>): Promise<void> {
    const { child, exit } = startAbusers('tcp-abusers.fixture.mjs', { port, kind, connections });
    try {
      await once(child, 'message');
      await work();
    } finally {
      child.disconnect();
      await exit;
    }
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
    `goes on beside %s on %d connections: others are served over HTTP and TCP, with less than ${MOST_MEMORY} MB`,
    async (kind, connections) => {
      const memory = await start();
      const record = newClient();
      await record();
      await beside(kind, connections, async () => {
        const times = await goOn(record);
        // One who comes only now.
        await newClient()();
        const { peak } = await memory(`${connections} × ${kind}`, times);
        expect(peak).toBeLessThan(MOST_MEMORY);
      });
    },
  );

  it(`goes on with ${DESCRIPTORS} descriptors beside 1,100 idle connections, and closes them all`, async () => {
    await start(['prlimit', `--nofile=${DESCRIPTORS}`]);
    const before = await filesOf(service.child.pid!);
    const record = newClient();
    await beside('idle', 1_100, async () => {
      await goOn(record);
      expect(await filesOf(service.child.pid!)).toBeLessThan(DESCRIPTORS / 2);
    });
    await eventually(async () =>
      expect(await filesOf(service.child.pid!)).toBeLessThanOrEqual(before + OWN_FILES),
    );
  });
});
