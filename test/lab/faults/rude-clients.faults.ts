import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, answersIn } from '../../support/raw-http.js';
import { outcome, refusal } from '../../support/requests.js';
import { eventually } from '../../../src/time-log/contract/eventually.js';
import { ANSWER_LIMIT } from './support/limits.js';
import { PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { filesOf } from './support/process-usage.js';
import { TOKEN, underWrites } from './support/service-under-writes.js';

const HEAD = `POST /api/v1/time-logs HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`;
/** Milliseconds: ten times as long as the service hears a request without a setting. */
const DAWDLE_LIMIT = 150_000;
const POOL_SIZE = 10;
/** Files and sockets that a service opens when it first needs them, such as the connections of its pool. */
const OWN_FILES = 20;
/** Rude clients of each kind. */
const IDLE = 1_000;
const SLOW = 25;
const ABORTING = 200;

describe('a service with rude clients', () => {
  let postgres: PostgresCluster;

  beforeAll(async () => {
    postgres = await PostgresCluster.create();
  });
  afterAll(() => postgres.remove());

  it(`serves others beside ${IDLE} idle sockets, slow headers, slow bodies and aborted creates, refuses the slow with 408, and leaks nothing`, async () => {
    const url = await postgres.createDatabase();
    await underWrites({ url, writers: 4 }, async ({ service: { port, child }, writers, ledger }) => {
      const before = await filesOf(child.pid!);
      const open = (text: string) => send(port, text);
      const idlers = await Promise.all(Array.from({ length: IDLE }, () => open('')));
      const dawdlers = [
        ...(await Promise.all(Array.from({ length: SLOW }, () => open(HEAD)))).map(
          (socket) => [socket, 'X-Slow: x\r\n'] as const,
        ),
        ...(
          await Promise.all(Array.from({ length: SLOW }, () => open(`${HEAD}Content-Length: 1000\r\n\r\n{`)))
        ).map((socket) => [socket, ' '] as const),
      ];
      const refusals = Promise.all(dawdlers.map(([socket, drop]) => dawdle(socket, drop)));
      for (let count = 0; count < ABORTING; count++) {
        const body = JSON.stringify(ledger.intend());
        const socket = await open(`${HEAD}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
        if (count % 2 === 0) socket.resetAndDestroy();
        else socket.destroy();
      }
      await writers.acknowledge(200);
      const timedOut = refusal('REQUEST_TIMEOUT', 'the request was not received in time');
      for (const answer of await refusals) expect(outcome(answer!)).toEqual([408, timedOut]);
      expect(ledger.slowest).toBeLessThan(ANSWER_LIMIT);
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
  });
});

/** Opens a connection and writes a text; what the service does to the connection is no error here. */
async function send(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  if (text !== '') await new Promise((resolve) => socket.write(text, resolve));
  return socket;
}

/** Writes a drop every second until the service has enough of it; its answer. */
async function dawdle(socket: Socket, drop: string): Promise<Answer | undefined> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const dripping = setInterval(() => socket.writable && socket.write(drop), 1_000);
  try {
    await once(socket, 'close', { signal: AbortSignal.timeout(DAWDLE_LIMIT) });
  } finally {
    clearInterval(dripping);
    socket.destroy();
  }
  return answersIn(Buffer.concat(chunks).toString())[0];
}
