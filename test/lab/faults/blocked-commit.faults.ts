import { describe, expect, it } from '@jest/globals';
import { ask } from './support/ask.js';
import { TOKEN, underWrites } from './support/service-under-writes.js';
import { Writers } from './support/writers.js';
import { useCluster } from './support/use-cluster.js';

const POOL_SIZE = 4;
/** Beside the pool one looks after what has no answer. */
const MOST = POOL_SIZE + 1;
/** Creates refused while commits are blocked: each takes the 2.5 s of the deadline, on each of 8 connections. */
const REFUSED = 120;

describe('a service whose commits wait for a standby that is away', () => {
  const postgres = useCluster();

  it('keeps to its pool, goes on reading, says why, and creates when they are free', async () => {
    const url = await postgres.createDatabase();
    const connections = async () => {
      const ours = `select from pg_stat_activity where application_name = 'time-logs'`;
      return (await postgres.query(ours)).length;
    };
    const env = { POOL_SIZE: String(POOL_SIZE) };
    await underWrites({ url, env }, async ({ service, writers, ledger }) => {
      const keyedWriters = new Writers({ token: TOKEN, ledger, areKeyed: true });
      keyedWriters.aim(service.port);
      keyedWriters.start();
      try {
        await postgres.configure({ synchronous_standby_names: 'nobody' });
        let most = 0;
        while (ledger.count('refused') < REFUSED) {
          expect(await ask(`${service.url}/api/v1/time-logs?limit=1`)).toMatchObject({ status: 200 });
          expect(await ask(`${service.url}/health`)).toMatchObject({ status: 200 });
          most = Math.max(most, await connections());
        }
        expect(most).toBeLessThanOrEqual(MOST);
        await postgres.configure({ synchronous_standby_names: null });
        await writers.acknowledge(1);
        await keyedWriters.acknowledge(100);
      } finally {
        await keyedWriters.stop();
      }
      expect(await connections()).toBeLessThanOrEqual(MOST);
      for (const line of [/takes no changes: commits wait for .*standby/, /takes changes again/])
        expect(
          service
            .output()
            .split('\n')
            .filter((text) => line.test(text)),
        ).toHaveLength(1);
    });
  });
});
