import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { timesOf } from '../../support/extent.js';
import { type Loss, LossyProxy } from '../../support/lossy-proxy.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { startService } from '../../support/service-process.js';
import type { IntendedLog } from './support/ledger.js';
import { type ServiceUnderWrites, TOKEN, underWrites } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

const ROUNDS = timesOf(20, 1);

/** What is lost, how, and whether the creates have keys and are sent again. */
const LOSSES = [
  ['answer', 'close', 'without a key'],
  ['answer', 'reset', 'without a key'],
  ['answer', 'silence', 'without a key'],
  ['statement', 'close', 'without a key'],
  ['statement', 'reset', 'without a key'],
  ['answer', 'reset', 'with a key'],
  ['answer', 'silence', 'with a key'],
  ['statement', 'reset', 'with a key'],
] as const;

describe('a create whose commit is in flight', () => {
  const postgres = useCluster();
  let proxy: LossyProxy;
  beforeAll(async () => {
    proxy = new LossyProxy(postgres.socket);
    await proxy.listen();
  });
  afterAll(() => proxy.close());

  /** A service under writes whose connections lead through the proxy, and how often a log is in its table. */
  async function onProxy(
    areKeyed: boolean,
    act: (scene: ServiceUnderWrites, stored: (log: IntendedLog) => Promise<number>) => Promise<void>,
  ): Promise<void> {
    const readerUrl = await postgres.createDatabase();
    const stored = async ({ description }: IntendedLog) =>
      (await queryOnce(readerUrl, 'select from time_logs where description = $1', [description])).length;
    await underWrites({ url: proxy.url(readerUrl), readerUrl, areKeyed }, (scene) => act(scene, stored));
  }

  it.each(LOSSES)(
    'is answered 503, never 201, when the %s is lost by %s: %s; with a key it is then made exactly once',
    (lost, by, key) =>
      onProxy(key === 'with a key', async ({ writers, ledger, service }, stored) => {
        for (let round = 0; round < ROUNDS; round++) {
          const doomed = ledger.intend();
          const isLost = proxy.lose(doomed.description, { lost, by } as Loss);
          expect(await writers.record(doomed)).toEqual({ kind: 'refused' });
          await isLost;
          expect(await stored(doomed)).toBe(lost === 'answer' ? 1 : 0);
          if (key === 'with a key') {
            expect(await writers.record(doomed)).toMatchObject({ kind: 'acknowledged' });
            expect(await stored(doomed)).toBe(1);
          }
          await writers.acknowledge(20);
        }
        expect(ledger.count('cut')).toBe(0);
        expect(service.child.exitCode).toBeNull();
      }),
  );

  it('is made exactly once when the service is killed before its answer, and it is sent again with its key', () =>
    onProxy(true, async (scene, stored) => {
      const { writers, ledger } = scene;
      for (let round = 0; round < ROUNDS; round++) {
        const doomed = ledger.intend();
        const isLost = proxy.lose(doomed.description, { lost: 'answer', by: 'silence' });
        const outcome = writers.record(doomed);
        await isLost;
        await scene.service.end('SIGKILL');
        expect(await outcome).toEqual({ kind: 'cut' });
        expect(await stored(doomed)).toBe(1);
        await scene.restart();
        expect(await writers.record(doomed)).toMatchObject({ kind: 'acknowledged' });
        expect(await stored(doomed)).toBe(1);
      }
      scene.count({ kills: ROUNDS, killsInFlight: ROUNDS });
    }));

  it('is made once when it comes 50 times at once over two services, and all get its answer', async () => {
    const url = await postgres.createDatabase();
    await underWrites({ url, areKeyed: true }, async ({ service, writers, ledger }) => {
      const other = await startService({ DATABASE_URL: url, ACCESS_TOKEN: TOKEN });
      try {
        for (let round = 0; round < ROUNDS; round++) {
          const log = ledger.intend();
          const texts = await Promise.all(
            Array.from({ length: 50 }, (_, index) => create((index % 2 ? service : other).url, log)),
          );
          expect(new Set(texts).size).toBe(1);
          // Once more as a writer, so that the audit knows of it.
          expect(await writers.record(log)).toMatchObject({
            kind: 'acknowledged',
            log: (JSON.parse(texts[0]!) as { data: object }).data,
          });
        }
      } finally {
        await other.end();
      }
    });
  });
});

/** The text of the answer to a create under the key that a writer would use; throws where it is not 201. */
async function create(url: string, log: IntendedLog): Promise<string> {
  const response = await fetch(`${url}/api/v1/time-logs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'idempotency-key': log.description,
    },
    body: JSON.stringify(log),
  });
  expect(response.status).toBe(201);
  return response.text();
}
