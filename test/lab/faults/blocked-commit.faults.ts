import { describe, expect, it } from '@jest/globals';
import { firstColumn } from '../../support/postgres-cluster.js';
import { ask } from './support/ask.js';
import { linesOf } from './support/serve.js';
import { TOKEN, underWrites } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';
import { Writers } from './support/writers.js';

const POOL_SIZE = 4;
/** Beside the pool one looks after what has no answer. */
const MOST = POOL_SIZE + 1;
/** Creates refused while commits are blocked: each takes the 2.5 s of the deadline, on each of 8 connections. */
const REFUSED = 120;

describe('a service whose commits wait for a standby that is away', () => {
  const postgres = useCluster();

  it('keeps to its pool, goes on reading, says why, and creates when they are free', async () => {
    const env = { POOL_SIZE: String(POOL_SIZE) };
    await underWrites({ database: postgres, env }, async ({ service, writers, ledger }) => {
      const expectFewConnections = async () => {
        const ours = `select pid from pg_stat_activity where application_name = 'time-logs'`;
        expect((await firstColumn(postgres.url, ours)).length).toBeLessThanOrEqual(MOST);
      };
      const keyedWriters = new Writers({ token: TOKEN, ledger, areKeyed: true });
      keyedWriters.aim(service.port);
      keyedWriters.start();
      try {
        await postgres.configure({ synchronous_standby_names: 'nobody' });
        while (ledger.count('refused') < REFUSED) {
          for (const path of ['/api/v1/time-logs?limit=1', '/health'])
            expect(await ask(service.url + path)).toMatchObject({ status: 200 });
          await expectFewConnections();
        }
        await postgres.configure({ synchronous_standby_names: null });
        await writers.acknowledge(1);
        await keyedWriters.acknowledge(100);
      } finally {
        await keyedWriters.stop();
      }
      await expectFewConnections();
      expect(linesOf(service, /takes no changes: commits wait for .*standby/)).toBe(1);
      expect(linesOf(service, /takes changes again/)).toBe(1);
    });
  });
});
