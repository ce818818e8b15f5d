import { describe, expect, it } from '@jest/globals';
import { timesOf } from '../../support/extent.js';
import type { Loss } from '../../support/lossy-proxy.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import type { IntendedLog } from './support/ledger.js';
import { type ServiceUnderWrites, underWrites } from './support/service-under-writes.js';
import { useCluster, useLossyProxy } from './support/use-cluster.js';

const ROUNDS = timesOf(20, 1);

/** The lost part, how it is lost, whether the creates have keys and are sent again, and the number of logs of each. */
const LOSSES = [
  ['answer', 'close', 'without a key', 1],
  ['answer', 'reset', 'without a key', 1],
  ['answer', 'silence', 'without a key', 1],
  ['statement', 'close', 'without a key', 1],
  ['statement', 'reset', 'without a key', 1],
  ['answer', 'reset', 'with a key', 1],
  ['answer', 'silence', 'with a key', 1],
  ['statement', 'reset', 'with a key', 1],
  ['answer', 'reset', 'without a key', 20],
  ['answer', 'silence', 'with a key', 20],
  ['statement', 'reset', 'with a key', 20],
] as const;

describe('a create whose commit is in flight', () => {
  const postgres = useCluster();
  const proxy = useLossyProxy(postgres);

  /** A service under writes whose connections lead through the proxy, and how many of some logs are in its table. */
  async function onProxy(
    options: { readonly areKeyed: boolean; readonly batch?: number },
    act: (
      scene: ServiceUnderWrites,
      stored: (logs: readonly IntendedLog[]) => Promise<number>,
    ) => Promise<void>,
  ): Promise<void> {
    const readerUrl = await postgres.createDatabase();
    const stored = async (logs: readonly IntendedLog[]) => {
      const descriptions = logs.map(({ description }) => description);
      const sql = 'select from time_logs where description = any ($1)';
      return (await queryOnce(readerUrl, sql, [descriptions])).length;
    };
    const database = proxy.url(readerUrl);
    await underWrites({ database, readerUrl, ...options }, (scene) => act(scene, stored));
  }

  it.each(LOSSES)(
    'is answered 503, never 201, when the %s is lost by %s: %s; with a key it is then made exactly once: %s logs',
    (lost, by, key, batch) =>
      onProxy({ areKeyed: key === 'with a key', batch }, async ({ writers, ledger, service }, stored) => {
        for (let round = 0; round < ROUNDS; round++) {
          const doomed = ledger.intendAll();
          const isLost = proxy.lose(doomed[0].description, { lost, by } as Loss);
          expect(await writers.record(...doomed)).toEqual({ kind: 'refused' });
          await isLost;
          expect(await stored(doomed)).toBe(lost === 'answer' ? batch : 0);
          if (key === 'with a key') {
            expect(await writers.record(...doomed)).toMatchObject({ kind: 'acknowledged' });
            expect(await stored(doomed)).toBe(batch);
          }
          await writers.acknowledge(20);
        }
        expect(ledger.count('cut')).toBe(0);
        expect(service.child.exitCode).toBeNull();
      }),
  );

  it('is made exactly once when the service is killed before its answer, and it is sent again with its key', () =>
    onProxy({ areKeyed: true }, async (scene, stored) => {
      const { writers, ledger } = scene;
      for (let round = 0; round < ROUNDS; round++) {
        const doomed = ledger.intend();
        const isLost = proxy.lose(doomed.description, { lost: 'answer', by: 'silence' });
        const outcome = writers.record(doomed);
        await isLost;
        await scene.service.end('SIGKILL');
        expect(await outcome).toEqual({ kind: 'cut' });
        expect(await stored([doomed])).toBe(1);
        await scene.restart();
        expect(await writers.record(doomed)).toMatchObject({ kind: 'acknowledged' });
        expect(await stored([doomed])).toBe(1);
      }
    }));
});
