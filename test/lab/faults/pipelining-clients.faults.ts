import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { ask } from './support/ask.js';
import { PostgresCluster } from '../../support/postgres-cluster.js';
import { memoryOf, peakMemoryOf } from './support/process-usage.js';
import { TOKEN } from './support/service-under-writes.js';

const REQUEST = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
/** Requests that one client sends at once. */
const PIPELINED = 1_400;
const CONNECTIONS = [10, 40, 200];
/** Megabytes above those of a service at rest. */
const MOST_MEMORY = 200;
/** Megabytes in which a service must go on. */
const SMALL_MACHINE = 512;
const byMemory = ['prlimit', `--data=${SMALL_MACHINE * 1_024 * 1_024}`] as const;
/** Node 24 reserves more than that at its start, and uses less. */
const canLimit = spawnSync(byMemory[0], [byMemory[1], process.execPath, '-e', '0']).status === 0;

describe('a service whose clients send requests without a token and do not read', () => {
  let postgres: PostgresCluster;
  let url: string;
  let service: ServiceProcess;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    postgres = await PostgresCluster.create();
    url = await postgres.createDatabase();
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await service.end('SIGKILL');
  });
  afterAll(() => postgres.remove());

  async function start(wrapper?: readonly string[]): Promise<void> {
    service = await startService({ DATABASE_URL: url, ACCESS_TOKEN: TOKEN }, wrapper);
    // What is made when it is first asked for is there, and some code is compiled.
    for (let i = 0; i < 50; i++) await askAsOthers();
  }

  async function askAsOthers(): Promise<void> {
    const statuses = ['/openapi.json', '/livez', '/api/v1/time-logs'].map(
      async (path) => (await ask(service.url + path)).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 200]);
  }

  /** Sends from so many connections. Resolves when each has the start of an answer; it reads none of it. */
  async function pipeline(connections: number): Promise<void> {
    await Promise.all(
      Array.from({ length: connections }, async () => {
        const socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
        sockets.push(socket);
        socket.write(REQUEST.repeat(PIPELINED));
        await once(socket, 'readable');
      }),
    );
  }

  it.each(CONNECTIONS)(
    `needs less than ${MOST_MEMORY} MB more for %d of them with ${PIPELINED} requests each, and serves others`,
    async (connections) => {
      await start();
      const before = await memoryOf(service.child.pid!);
      await pipeline(connections);
      for (let i = 0; i < 20; i++) await askAsOthers();
      const peak = await peakMemoryOf(service.child.pid!);
      console.log(`${connections} connections: ${before.toFixed()} to ${peak.toFixed()} MB`);
      expect(peak - before).toBeLessThan(MOST_MEMORY);
    },
  );

  (canLimit ? it : it.skip)(
    `goes on where it has ${SMALL_MACHINE} MB (skipped where Node does not start so)`,
    async () => {
      await start(byMemory);
      await pipeline(200);
      for (let i = 0; i < 20; i++) await askAsOthers();
      expect(service.child.exitCode).toBeNull();
    },
  );

  it(`gives all ${PIPELINED} answers to a client that reads, in their order`, async () => {
    await start();
    const socket = connect(service.port, '127.0.0.1');
    sockets.push(socket);
    const ids = Array.from({ length: PIPELINED }, (_, number) => `request-${number}`);
    const last = REQUEST.replace('Host', 'Connection: close\r\nHost');
    socket.write(ids.map((id) => REQUEST.replace('Host', `X-Request-Id: ${id}\r\nHost`)).join('') + last);
    let [text, bytes] = ['', 0];
    const answered: string[] = [];
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      text += chunk.toString('latin1');
      answered.push(...[...text.matchAll(/^X-Request-Id: (request-\d+)\r\n/gm)].map(([, id]) => id!));
      // This may be the start of a header.
      text = text.slice(text.lastIndexOf('\n') + 1);
    }
    expect(answered).toEqual(ids);
    const { length } = (await ask(`${service.url}/openapi.json`)).text;
    expect(bytes).toBeGreaterThan(length * PIPELINED);
  });
});
