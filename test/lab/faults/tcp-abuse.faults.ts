import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { percentile } from '../bench/statistics.js';
import { unusedPort } from '../../support/unused-port.js';
import { overTransport } from '../../messages/doors.js';
import { framed, RawTcp } from '../../messages/raw-tcp.js';
import { LOG } from '../../support/requests.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { ask } from './support/ask.js';
import { eventually } from '../eventually.js';
import { PostgresCluster } from '../../support/postgres-cluster.js';
import { filesOf, memoryOf, peakMemoryOf } from './support/process-usage.js';
import { TOKEN } from './support/service-under-writes.js';

const host = '127.0.0.1';
const FIXTURE = join(import.meta.dirname, 'support', 'tcp-abusers.fixture.mjs');
/** Megabytes in which a service must go on. */
const SMALL_MACHINE = 512;
/** Megabytes that a service may need. */
const MOST_MEMORY = 320;
/** Milliseconds. */
const WINDOW = 5_000;
/** Milliseconds between the connection of a client and its first message. */
const SLOW = 100;
/** Descriptors that processes have on many machines. */
const DESCRIPTORS = 1_024;
/** Sockets and files that come and go with a client and the pool. */
const OWN_FILES = 20;
const byMemory = ['prlimit', `--data=${SMALL_MACHINE * 1_024 * 1_024}`] as const;
const byDescriptors = ['prlimit', `--nofile=${DESCRIPTORS}`] as const;
/** Node 24 reserves more memory than that at its start, and uses less. */
const canStart = (wrapper: readonly [string, string]) =>
  spawnSync(wrapper[0], [wrapper[1], process.execPath, '-e', '0']).status === 0;

describe('a service whose port for messages is abused without a token', () => {
  let postgres: PostgresCluster;
  let url: string;
  let port: number;
  let service: ServiceProcess;
  const clients: ClientProxy[] = [];

  beforeAll(async () => {
    postgres = await PostgresCluster.create();
    url = await postgres.createDatabase();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await service.end('SIGKILL');
  });
  afterAll(() => postgres.remove());

  async function start(wrapper?: readonly string[]): Promise<void> {
    port = await unusedPort();
    const env = { DATABASE_URL: url, ACCESS_TOKEN: TOKEN, MESSAGES_URL: `tcp://${host}:${port}` };
    service = await startService(env, wrapper);
    // Connections of the pool and compiled code are there before anything counts.
    for (let i = 0; i < 50; i++) await served('/health');
  }

  /** A client with a token, and a connection of its own. */
  function newClient(): () => Promise<void> {
    const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host, port } });
    clients.push(client);
    const door = overTransport(client);
    return async () => {
      const outcome = await door.record({ accessToken: TOKEN, timeLog: LOG });
      expect(outcome).toMatchObject({ answer: { success: true } });
    };
  }

  /** The milliseconds that an answer of 200 took. */
  async function served(path: string): Promise<number> {
    const { status, took } = await ask(service.url + path);
    expect(status).toBe(200);
    return took;
  }

  /** Does something while abusers of a kind are at work. */
  async function beside(kind: string, connections: number, work: () => Promise<void>): Promise<void> {
    const argument = JSON.stringify({ port, kind, connections });
    const abusers = fork(FIXTURE, [argument], { execArgv: [] });
    const exit = once(abusers, 'exit');
    try {
      await once(abusers, 'message');
      await work();
    } finally {
      abusers.disconnect();
      await exit;
    }
  }

  /** Asks again and again for a while. Returns the milliseconds of each answer of `/livez`, the least first. */
  async function goOn(record: () => Promise<void>): Promise<number[]> {
    const times: number[] = [];
    const end = performance.now() + WINDOW;
    const again = async (act: () => Promise<void>) => {
      do {
        await act();
        await delay(20);
      } while (performance.now() < end);
    };
    await Promise.all([
      again(async () => {
        times.push(await served('/livez'));
      }),
      again(async () => {
        await served('/health');
      }),
      again(record),
    ]);
    return times.sort((one, other) => one - other);
  }

  it.each([
    ['wide', 120],
    ['half', 120],
    ['small', 20],
    ['guesses', 20],
    ['huge', 20],
    ['large', 20],
    ['medium', 20],
  ])(
    `goes on beside %s on %d connections: others are served over HTTP and TCP, with less than ${MOST_MEMORY} MB`,
    async (kind, connections) => {
      await start();
      const before = await memoryOf(service.child.pid!);
      const record = newClient();
      await record();
      await beside(kind, connections, async () => {
        const times = await goOn(record);
        // One who comes only now.
        await newClient()();
        const peak = await peakMemoryOf(service.child.pid!);
        const [p50, p90] = [0.5, 0.9].map((part) => percentile(times, part).toFixed());
        console.log(
          `${connections} × ${kind}: livez p50 ${p50}, p90 ${p90}, longest ${times.at(-1)!.toFixed()} ms, ` +
            `${before.toFixed()} to ${peak.toFixed()} MB`,
        );
        expect(peak).toBeLessThan(MOST_MEMORY);
      });
    },
  );

  (canStart(byMemory) ? it : it.skip)(
    `goes on with ${SMALL_MACHINE} MB beside half messages on 160 connections (skipped where Node does not start so)`,
    async () => {
      await start(byMemory);
      const record = newClient();
      await beside('wide', 160, async () => {
        for (let i = 0; i < 20; i++) await record();
      });
      expect(service.child.exitCode).toBeNull();
    },
  );

  it(`goes on with ${DESCRIPTORS} descriptors beside 1,100 idle connections, and closes them all`, async () => {
    await start(byDescriptors);
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

  it(`serves who sends after ${SLOW} ms beside 2,000 silent connections a second, 45 times of 50`, async () => {
    await start();
    const record = newClient();
    await record();
    await beside('passing', 2_000, async () => {
      const message = JSON.stringify({
        pattern: 'time-log.list.v1',
        data: { accessToken: TOKEN, query: { limit: 1 } },
        id: '1',
      });
      let served = 0;
      for (let client = 0; client < 50; client++) {
        const raw = await RawTcp.open(port);
        await delay(SLOW);
        if (await raw.ask(message)) served++;
        raw.close();
      }
      console.log(`passing: ${served} of 50 served`);
      expect(served).toBeGreaterThanOrEqual(45);
      await goOn(record);
    });
  });

  it('ends a connection that says nothing, and one that sends a byte now and then', async () => {
    await start();
    const [silent, dripping] = [await RawTcp.open(port), await RawTcp.open(port)];
    const bytes = framed(' '.repeat(1_000));
    let sent = 0;
    const drops = setInterval(() => dripping.write(bytes.subarray(sent, ++sent)), 500);
    expect(await silent.ended()).toEqual([]);
    expect(await dripping.ended()).toMatchObject([{ err: { error: 'REQUEST_TIMEOUT' } }]);
    clearInterval(drops);
    expect(sent).toBeLessThan(bytes.length);
  });
});
