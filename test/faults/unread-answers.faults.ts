import { once } from 'node:events';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { UnreadAnswers } from '../../libs/http-edge/src/index.js';
import { connectMessages } from '../../src/messages/index.js';
import { unusedPort } from '../messages/brokers.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { create, list, LOG, outcome, refusal, TIME_LOGS } from '../support/requests.js';
import { type ServiceProcess, startService } from '../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { loadConfig } from '../../src/config.js';
import { isFull } from './support/extent.js';
import { memoryOf } from './support/process-usage.js';

const TOKEN = 'a-token-that-the-deployment-declares';
const BIG = '0b000000-0000-4000-8000-000000000001';
/** Bytes of a page of 1000 of the largest logs, at least. */
const PAGE = 19_000_000;

/** Fills a project with 1000 logs of 5000 code points, each of four bytes. */
async function fill(url: string): Promise<void> {
  const dataSource = await new DataSource({ type: 'postgres', url }).initialize();
  await dataSource.query(
    `insert into time_logs (id, project_id, duration, description, date)
     select (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
            $1, 1, repeat('😀', 5000), '2026-01-31'
       from generate_series(1, 1000) n, to_char(0, 'FM0') zero, lpad(to_hex(1769850000000 + n), 12, '0') hex`,
    [BIG],
  );
  await dataSource.destroy();
}

const request = (limit: number, token = TOKEN) =>
  `GET ${TIME_LOGS}?projectId=${BIG}&limit=${limit} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;

/** The same as a message over TCP. */
const message = (limit: number, accessToken = TOKEN) => {
  const data = { accessToken, query: { projectId: BIG, limit } };
  const text = JSON.stringify({ pattern: 'time-log.list.v1', id: '1', data });
  return `${text.length}#${text}`;
};

/** Asks for the big page and reads nothing of the answer. */
function askAndIgnore(port: number, asked = request(1000)): Socket {
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => undefined);
  socket.write(asked);
  return socket;
}

describe('an answer that its client does not take', () => {
  let app: TestApp;
  let messages: Server;

  beforeAll(async () => {
    const messagesUrl = `tcp://127.0.0.1:${await unusedPort()}`;
    app = await startTestApp({
      messagesUrl,
      limits: { ...loadConfig({}, false).limits, unreadTimeout: 2_000 },
    });
    await connectMessages(app.app, messagesUrl, { say: () => undefined, unread: app.app.get(UnreadAnswers) });
    const [door] = app.app.getMicroservices() as { unwrap(): Server }[];
    messages = door!.unwrap();
    await fill(app.databaseUrl);
  }, 60_000);
  afterAll(() => app.close());

  it.each(['HTTP', 'TCP'])(
    'is cut over %s when nothing of it was taken for the time that a client has',
    async (door) => {
      const [server, asked] =
        door === 'HTTP'
          ? [app.app.getHttpServer() as Server, request(1000, app.token)]
          : [messages, message(1000, app.token)];
      const { port } = server.address() as AddressInfo;
      const connections = () =>
        new Promise<number>((resolve) => server.getConnections((_error, n) => resolve(n)));
      const sockets = Array.from({ length: 3 }, () => askAndIgnore(port, asked));
      while ((await connections()) < 3) await delay(10);
      while ((await connections()) > 0) await delay(50);
      for (const socket of sockets) socket.destroy();
    },
  );

  it('is sent to its end to a client that is slow', async () => {
    let received = 0;
    let begun = 0;
    // A busy machine may refuse a page of this size first.
    for (let head = ''; !head.startsWith('HTTP/1.1 200');) {
      const socket = connect(app.port, '127.0.0.1');
      socket.write(request(1000, app.token).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
      [received, begun, head] = [0, performance.now(), ''];
      socket.on('data', (chunk: Buffer) => {
        head ||= chunk.toString('latin1', 0, 12);
        received += chunk.length;
        if (performance.now() - begun > 5_000) return;
        socket.pause();
        // 200 kB a second: so slow that the system takes nothing more for longer than a client may be silent.
        setTimeout(() => socket.resume(), 320);
      });
      await once(socket, 'close');
    }
    expect(received).toBeGreaterThan(PAGE);
    // Longer than it might have been silent.
    expect(performance.now() - begun).toBeGreaterThan(4_000);
  }, 120_000);
});

describe('pages of 20 MB', () => {
  let database: TestDatabase;
  let service: ServiceProcess;

  beforeAll(async () => {
    database = await createTestDatabase();
    service = await startService({ DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN });
    await fill(database.url);
  }, 60_000);
  afterAll(async () => {
    await service.end('SIGKILL');
    await database.drop();
  });

  it('that nobody reads leave memory bounded, and creates, small lists and health are served', async () => {
    const before = await memoryOf(service.child.pid!);
    const target = { url: service.url, port: service.port, token: TOKEN };
    const sockets: Socket[] = [];
    // Once the bound is reached no big list is made, however small it would turn out.
    let refused = await list(target, 'limit=1000&from=2027-01-01');
    for (; refused.status === 200; refused = await list(target, 'limit=1000&from=2027-01-01')) {
      const socket = askAndIgnore(service.port);
      sockets.push(socket);
      await once(socket, 'readable');
    }
    expect(sockets.length).toBeGreaterThan(5);
    expect([outcome(refused), refused.headers.get('retry-after')]).toEqual([
      [503, refusal('SERVICE_UNAVAILABLE', 'the service is unavailable at the moment; retry later')],
      '1',
    ]);
    expect(outcome(await create(target, LOG))[0]).toBe(201);
    for (const path of ['/health', `${TIME_LOGS}?limit=100`]) {
      const answer = await fetch(service.url + path, { headers: { authorization: `Bearer ${TOKEN}` } });
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    }
    expect((await memoryOf(service.child.pid!)) - before).toBeLessThan(500);
    for (const socket of sockets) socket.destroy();
  }, 120_000);

  it('that are read do not hold up creates', async () => {
    let isReading = true;
    let pages = 0;
    const readers = Array.from({ length: isFull ? 30 : 12 }, async () => {
      while (isReading) {
        const answer = await fetch(`${service.url}${TIME_LOGS}?projectId=${BIG}&limit=1000`, {
          headers: { authorization: `Bearer ${TOKEN}` },
        });
        const { byteLength } = await answer.arrayBuffer();
        if (answer.status === 200) {
          expect(byteLength).toBeGreaterThan(PAGE);
          pages++;
        } else expect(answer.status).toBe(503);
      }
    });
    const times: number[] = [];
    const end = performance.now() + (isFull ? 30_000 : 5_000);
    const target = { url: service.url, port: service.port, token: TOKEN };
    while (performance.now() < end || pages < 3) {
      const begun = performance.now();
      expect(outcome(await create(target, LOG))[0]).toBe(201);
      times.push(performance.now() - begun);
    }
    isReading = false;
    await Promise.all(readers);
    times.sort((a, b) => a - b);
    const [p50, p99] = [0.5, 0.99].map((part) => Math.round(times[Math.floor(times.length * part)]!));
    console.log(`beside ${pages} pages of 20 MB: ${times.length} creates, p50 ${p50} ms, p99 ${p99} ms`);
  }, 120_000);
});

describe('the drain', () => {
  it('finishes the answers that have begun', async () => {
    const database = await createTestDatabase();
    const { port, child, end } = await startService({ DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN });
    try {
      await fill(database.url);
      const sizes: number[] = [];
      const clients = [1000, 100].map(async (limit, index) => {
        const socket = connect(port, '127.0.0.1');
        socket.write(request(limit));
        await once(socket, 'data');
        socket.on('data', (chunk: Buffer) => {
          sizes[index] = (sizes[index] ?? 0) + chunk.length;
          // Some 10 MB a second.
          socket.pause();
          setTimeout(() => socket.resume(), chunk.length / 10_000);
        });
        return once(socket, 'close');
      });
      await delay(500);
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await Promise.all(clients);
      expect(sizes[0]).toBeGreaterThan(PAGE - 1_000_000);
      expect(sizes[1]).toBeGreaterThan(PAGE / 10 - 100_000);
      expect(await exit).toEqual([0, null]);
    } finally {
      await end('SIGKILL');
      await database.drop();
    }
  }, 60_000);
});
