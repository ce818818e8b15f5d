import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ClientProxy } from '@nestjs/microservices';
import { overHttp, overTransport, tcpClient } from '../../messages/test-clients.js';
import { useTestDatabase } from '../../support/fixtures.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { create, LOG, outcome, send, TIME_LOGS } from '../../support/requests.js';
import { unusedPort } from '../../support/unused-port.js';
import { eventually } from '../eventually.js';
import { peakMemoryOf } from './support/process-usage.js';
import { useService } from './support/serve.js';
import { TOKEN } from './support/service-under-writes.js';
import { SlowReaders } from './support/slow-readers.js';

const OTHER = 'another-token-that-the-deployment-declares';
const BIG = '0b000000-0000-4000-8000-000000000001';
const SMALL = '0b000000-0000-4000-8000-000000000002';
/** How often another caller must get each kind of page; of how many requests is printed. */
const WANTED = 7;

/** Fills a project with 1000 logs of 5000 code points, each of four bytes, and another with 101 small ones. */
async function fill(url: string): Promise<void> {
  const insert = (...values: readonly [string, number, string]) =>
    queryOnce(
      url,
      `insert into time_logs (id, project_id, duration, description, date)
       select (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7' || substr($1, 36) || '00-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
              $1::uuid, 1, $3, '2026-01-31'
         from generate_series(1, $2) n, lpad(to_hex(1769850000000 + n), 12, '0') hex`,
      [...values],
    );
  await insert(BIG, 1_000, '😀'.repeat(5_000));
  await insert(SMALL, 101, 'small');
}

const REQUEST = `GET ${TIME_LOGS}?projectId=${BIG}&limit=1000 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;

/** The same as a message over TCP. */
const DATA = { accessToken: TOKEN, query: { projectId: BIG, limit: 1_000 } };
const PACKET = JSON.stringify({ pattern: 'time-log.list.v1', id: '1', data: DATA });
const MESSAGE = `${PACKET.length}#${PACKET}`;

describe('pages of 20 MB', () => {
  const database = useTestDatabase();
  let messages: number;
  const service = useService(database, async () => {
    messages = await unusedPort();
    return { ACCESS_TOKEN: `${TOKEN},${OTHER}`, MESSAGES_URL: `tcp://127.0.0.1:${messages}` };
  });
  let client: ClientProxy;
  const target = () => ({ port: service.port, token: TOKEN });
  const expectCreated = async () => expect(outcome(await create(target(), LOG))[0]).toBe(201);

  beforeAll(async () => {
    client = tcpClient(messages);
    await fill(database.url);
  });
  afterAll(() => void client.close());

  /** The numbers of logs that another caller gets over each transport, of a large and a small project. */
  const logsOfOther = async (): Promise<number[]> => {
    const counts = [];
    for (const testClient of [overHttp(service.port), overTransport(client)])
      for (const projectId of [BIG, SMALL]) {
        const outcome = await testClient.list({ accessToken: OTHER, query: { projectId, limit: 1_000 } });
        counts.push('answer' in outcome ? (outcome.answer as { data: unknown[] }).data.length : 0);
      }
    return counts;
  };

  it.each([
    { clients: 9, rate: 4_000 },
    { clients: 50, rate: 0 },
  ])(
    'go to others while $clients clients of one token take $rate bytes a second over each transport',
    async ({ clients, rate }) => {
      const slow = [new SlowReaders(service.port, REQUEST, rate), new SlowReaders(messages, MESSAGE, rate)];
      const sum = (what: 'begun' | 'refused') => slow.reduce((all, readers) => all + readers[what], 0);
      try {
        for (const readers of slow) readers.start(clients);
        await eventually(() => expect(sum('refused')).toBeGreaterThan(0));
        const got: number[] = [];
        let tries = 0;
        for (; tries === 0 || Math.min(...got) < WANTED; tries++) {
          for (const [kind, logs] of (await logsOfOther()).entries())
            got[kind] = (got[kind] ?? 0) + (logs === [1_000, 101][kind % 2] ? 1 : 0);
          await expectCreated();
          for (const path of ['/health', `${TIME_LOGS}?limit=100`])
            expect((await send(target(), path)).status).toBe(200);
        }
        const begun = sum('begun');
        const peak = await peakMemoryOf(service.child.pid!);
        console.log(
          `${clients} clients, ${rate} B/s: ${got.join(', ')} of ${tries}; ${begun} begun, ${sum('refused')} refused, ${peak.toFixed()} MB`,
        );
        expect(peak).toBeLessThan(480);
        // Connections that hold memory are closed, and other ones of the token get it.
        await eventually(() => expect(sum('begun')).toBeGreaterThan(begun));
      } finally {
        for (const readers of slow) readers.end();
      }
    },
  );
});
