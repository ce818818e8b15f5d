import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startService } from '../../support/service-process.js';
import { timesOf } from '../../support/extent.js';
import type { IntendedLog } from './support/ledger.js';
import { type Loss, LossyProxy } from '../../support/lossy-proxy.js';
import { PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { TOKEN, underWrites } from './support/service-under-writes.js';

const ROUNDS = timesOf(20, 1);

const LOSSES: readonly [Loss['lost'], Loss['by'], Loss][] = [
  ['statement', 'reset', { lost: 'statement', by: 'reset' }],
  ['answer', 'silence', { lost: 'answer', by: 'silence' }],
  ['answer', 'reset', { lost: 'answer', by: 'reset' }],
];

describe('a create with an Idempotency-Key', () => {
  let postgres: PostgresCluster;
  let proxy: LossyProxy;

  beforeAll(async () => {
    postgres = await PostgresCluster.create();
    proxy = new LossyProxy(postgres.socket);
    await proxy.listen();
  });
  afterAll(async () => {
    proxy.close();
    await postgres.remove();
  });

  it.each(LOSSES)(
    'makes exactly one log when the %s of its commit is lost by %s and it is sent again',
    (_lost, _by, loss) =>
      onProxy(async ({ writers, ledger }, stored) => {
        for (let round = 0; round < ROUNDS; round++) {
          const doomed = ledger.intend();
          const lost = proxy.lose(doomed.description, loss);
          expect(await writers.record(doomed)).toEqual({ kind: 'refused' });
          await lost;
          expect(await stored(doomed)).toBe(loss.lost === 'answer' ? 1 : 0);
          expect(await writers.record(doomed)).toMatchObject({ kind: 'acknowledged' });
          expect(await stored(doomed)).toBe(1);
        }
      }),
  );

  it('makes exactly one log when the service is killed between its commit and the answer and it is sent again', () =>
    onProxy(async (scene, stored) => {
      const { writers, ledger } = scene;
      for (let round = 0; round < ROUNDS; round++) {
        const doomed = ledger.intend();
        const lost = proxy.lose(doomed.description, { lost: 'answer', by: 'silence' });
        const outcome = writers.record(doomed);
        await lost;
        await scene.service.end('SIGKILL');
        expect(await outcome).toEqual({ kind: 'cut' });
        expect(await stored(doomed)).toBe(1);
        await scene.restart();
        expect(await writers.record(doomed)).toMatchObject({ kind: 'acknowledged' });
        expect(await stored(doomed)).toBe(1);
      }
      scene.count({ kills: ROUNDS, killsInFlight: ROUNDS });
    }));

  it('makes one log of 50 at once over two services, and all get its answer', async () => {
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

  /** A service under keyed writes whose connections lead through the proxy, and how often a log is in its table. */
  async function onProxy(
    act: (
      scene: Parameters<Parameters<typeof underWrites>[1]>[0],
      stored: (log: IntendedLog) => Promise<number>,
    ) => Promise<void>,
  ): Promise<void> {
    const readerUrl = await postgres.createDatabase();
    const url = proxy.url(readerUrl);
    const stored = async ({ description }: IntendedLog) => {
      const count = 'select count(*)::int as count from time_logs where description = $1';
      const [row] = await queryOnce<{ count: number }>(readerUrl, count, [description]);
      return row!.count;
    };
    await underWrites({ url, readerUrl, areKeyed: true }, (scene) => act(scene, stored));
  }
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
