import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { timesOf } from '../../support/extent.js';
import { type Loss, LossyProxy } from '../../support/lossy-proxy.js';
import { PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { underWrites } from './support/service-under-writes.js';

const ROUNDS = timesOf(20, 1);

const LOSSES: readonly [Loss['lost'], Loss['by'], Loss, stored: number][] = [
  ['answer', 'close', { lost: 'answer', by: 'close' }, 1],
  ['answer', 'reset', { lost: 'answer', by: 'reset' }, 1],
  ['answer', 'silence', { lost: 'answer', by: 'silence' }, 1],
  ['statement', 'close', { lost: 'statement', by: 'close' }, 0],
  ['statement', 'reset', { lost: 'statement', by: 'reset' }, 0],
];

describe('a service whose connection is lost while a commit is in flight', () => {
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

  it.each(LOSSES)('answers 503, never 201, when the %s is lost by %s', async (_lost, _by, loss, stored) => {
    const readerUrl = await postgres.createDatabase();
    const url = proxy.url(readerUrl);
    await underWrites({ url, readerUrl }, async ({ writers, ledger, service }) => {
      for (let round = 0; round < ROUNDS; round++) {
        const doomed = ledger.intend();
        const lost = proxy.lose(doomed.description, loss);
        expect(await writers.record(doomed)).toEqual({ kind: 'refused' });
        await lost;
        const count = 'select count(*)::int as count from time_logs where description = $1';
        expect(await queryOnce(readerUrl, count, [doomed.description])).toEqual([{ count: stored }]);
        await writers.acknowledge(20);
      }
      expect(ledger.count('cut')).toBe(0);
      expect(service.child.exitCode).toBeNull();
    });
  });
});
