import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, answersIn } from '../support/raw-http.js';
import { outcome, refusal } from '../support/requests.js';
import { eventually } from './support/eventually.js';
import { PostgresCluster, queryOnce } from './support/postgres-cluster.js';
import { filesOf } from './support/process-usage.js';
import { TOKEN, underWrites } from './support/service-under-writes.js';

const HEAD = `POST /api/v1/time-logs HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`;
/** Milliseconds after which a request whose headers or body dawdle is refused, with those between two looks of the service. */
const HEADERS_LIMIT = 10_000 + 2_000;
const REQUEST_LIMIT = 15_000 + 2_000;
/** Milliseconds that a machine under load may add. */
const TOLERANCE = 2_000;
/** Milliseconds that a create of a polite client may take meanwhile. */
const SERVED_LIMIT = 2_000;
const POOL_SIZE = 10;
/** Files and sockets that a service opens when it first needs them, such as the connections of its pool. */
const OWN_FILES = 20;

const idle = 1_000;
const slow = 25;
const aborting = 200;

describe('a service with rude clients', () => {
  let postgres: PostgresCluster;

  beforeAll(async () => {
    postgres = await PostgresCluster.create();
  });
  afterAll(() => postgres.remove());

  it(`serves others beside ${idle} idle sockets, slow headers, slow bodies and aborted creates, refuses the slow with 408, and leaks nothing`, async () => {
    const url = await postgres.createDatabase();
    await underWrites({ url, writers: 4 }, async ({ service: { port, child }, writers, ledger }) => {
      const before = await filesOf(child.pid!);
      const open = (text: string) => send(port, text);
      const idlers = await Promise.all(Array.from({ length: idle }, () => open('')));
      const dawdlers = [
        ...(await Promise.all(Array.from({ length: slow }, () => open(HEAD)))).map(
          (socket) => [socket, 'X-Slow: x\r\n', HEADERS_LIMIT] as const,
        ),
        ...(
          await Promise.all(Array.from({ length: slow }, () => open(`${HEAD}Content-Length: 1000\r\n\r\n{`)))
        ).map((socket) => [socket, ' ', REQUEST_LIMIT] as const),
      ];
      const refusals = Promise.all(
        dawdlers.map(([socket, drop, limit]) => dawdle(socket, drop, limit + TOLERANCE)),
      );
      for (let count = 0; count < aborting; count++) {
        const body = JSON.stringify(ledger.intend());
        const socket = await open(`${HEAD}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
        if (count % 2 === 0) socket.resetAndDestroy();
        else socket.destroy();
      }
      await writers.acknowledge(200);
      const timedOut = refusal('REQUEST_TIMEOUT', 'the request was not received in time');
      for (const answer of await refusals) expect(outcome(answer!)).toEqual([408, timedOut]);
      expect(ledger.slowest).toBeLessThan(SERVED_LIMIT);
      expect([ledger.count('refused'), ledger.count('cut')]).toEqual([0, 0]);

      for (const socket of idlers) socket.destroy();
      await eventually(async () => expect(await filesOf(child.pid!)).toBeLessThanOrEqual(before + OWN_FILES));
      const connections = await queryOnce(
        url,
        `select 1 from pg_stat_activity where application_name = 'time-logs'`,
      );
      expect(connections.length).toBeLessThanOrEqual(POOL_SIZE);
      const refused = ledger.count('refused');
      await writers.acknowledge(200);
      expect(ledger.count('refused')).toBe(refused);
    });
  }, 60_000);
});

/** Opens a connection and writes a text; what the service does to the connection is no error here. */
async function send(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  if (text !== '') await new Promise((resolve) => socket.write(text, resolve));
  return socket;
}

/** Writes a drop every second until the service has enough of it, within a limit (milliseconds); its last answer. */
async function dawdle(socket: Socket, drop: string, limit: number): Promise<Answer | undefined> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const dripping = setInterval(() => socket.writable && socket.write(drop), 1_000);
  try {
    await once(socket, 'close', { signal: AbortSignal.timeout(limit) });
  } finally {
    clearInterval(dripping);
    socket.destroy();
  }
  return answersIn(Buffer.concat(chunks).toString())[0];
}
