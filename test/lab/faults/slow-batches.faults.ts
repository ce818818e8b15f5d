import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createAll, LOG } from '../../support/requests.js';
import type { ServiceProcess } from '../../support/service-process.js';
import { eventually } from '../eventually.js';
import { liveHeapOf, WITH_LIVE_HEAP } from './support/live-heap.js';
import { serve } from './support/serve.js';
import { TOKEN } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

const CONNECTIONS = 200;
const MIB = 1024 * 1024;
/** Batches of 1 MiB that one caller may have under way. */
const HELD = 32;
/** Megabytes above those of a service that has served one batch. */
const MOST_HELD = 150;
const MOST_LEFT = 10;
const OTHER = 'another-token-that-the-deployment-declares';
const BATCH = JSON.stringify({ timeLogs: Array(1000).fill({ ...LOG, description: 'x'.repeat(900) }) });

describe('a service whose clients send batches slowly', () => {
  const postgres = useCluster();
  let service: ServiceProcess;
  const sockets: Socket[] = [];
  let statuses: (string | undefined)[];
  beforeEach(async () => {
    const env = { ACCESS_TOKEN: `${TOKEN},${OTHER}`, REQUEST_TIMEOUT: '600', ...WITH_LIVE_HEAP };
    service = await serve(await postgres.createDatabase(), env);
    statuses = [];
  });
  afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

  /** Sends a request, or a part of it. Resolves when all is sent or something is answered. */
  async function begin(token: string, header: string, body: string): Promise<void> {
    const socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    const answered = once(socket, 'data').then(([bytes]) => {
      statuses.push(/^HTTP\/1.1 (\d+) /.exec(String(bytes))?.[1]);
      socket.resume();
    });
    const head = `POST /api/v1/time-logs/batch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${header}\r\n\r\n`;
    const sent = new Promise((resolve) => socket.write(head + body, resolve));
    await Promise.race([answered.catch(() => undefined), sent]);
  }
  const beginAll = (count: number, ...request: [token: string, header: string, body: string]) =>
    Promise.all(Array.from({ length: count }, () => begin(...request)));
  const statusOf = async (token: string) =>
    (await createAll({ port: service.port, token }, { timeLogs: [LOG] })).status;

  it(`takes at most ${HELD} of ${CONNECTIONS} that one caller does not finish, refuses the others, and serves another`, async () => {
    expect(await statusOf(OTHER)).toBe(201);
    const heap = liveHeapOf(service);
    const before = await heap();
    await beginAll(CONNECTIONS, TOKEN, `Content-Length: ${MIB}`, BATCH.padEnd(MIB - 1));
    await eventually(() => expect(statuses.length).toBeGreaterThanOrEqual(CONNECTIONS - HELD));
    expect(new Set(statuses)).toEqual(new Set(['503']));
    expect(await statusOf(OTHER)).toBe(201);
    const held = (await heap()) - before;
    console.log(`unfinished batches: ${before.toFixed()} and ${held.toFixed()} MB`);
    expect(held).toBeLessThan(MOST_HELD);
    sockets.splice(0).forEach((socket) => socket.destroy());
    await eventually(async () => expect(await statusOf(TOKEN)).toBe(201));
  });

  it('keeps no memory for what clients have only announced', async () => {
    for (const token of [TOKEN, OTHER]) await beginAll(HELD, token, `Content-Length: ${MIB}`, '');
    expect([await statusOf(TOKEN), await statusOf(OTHER)]).toEqual([201, 201]);
    expect(statuses).toEqual([]);
  });

  it.each([
    ['201', BATCH],
    ['413', `{"timeLogs":[${'{},'.repeat(MIB / 3 - 10)}{}]}`],
  ])(`answers %s or 503 to ${CONNECTIONS} that are whole`, async (expected, body) => {
    expect(await statusOf(OTHER)).toBe(201);
    const heap = liveHeapOf(service);
    const before = await heap();
    const request = [`Content-Length: ${MIB}`, body.padEnd(MIB)] as const;
    await Promise.all([TOKEN, OTHER].map((token) => beginAll(CONNECTIONS / 2, token, ...request)));
    await eventually(() => expect(statuses).toHaveLength(CONNECTIONS));
    expect(statuses.filter((status) => status !== expected && status !== '503')).toEqual([]);
    expect(statuses).toContain(expected);
    sockets.splice(0).forEach((socket) => socket.destroy());
    await eventually(async () => expect((await heap()) - before).toBeLessThan(MOST_LEFT));
  });
});
