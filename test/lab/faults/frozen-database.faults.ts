import { describe, expect, it } from '@jest/globals';
import { timesOf } from '../../support/extent.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { eventually } from '../eventually.js';
import { storeToken } from '../tokens.js';
import { ask, expectUnavailable } from './support/ask.js';
import { underWrites } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

const ROUNDS = timesOf(4, 2);
/**
 * Waves of requests while the database is frozen: the first finds connections that hang, the later ones none that is
 * free.
 */
const WAVES = 3;
/** Connections that the service may have. */
const POOL_SIZE = 10;
const CONNECTIONS = `select pid, state from pg_stat_activity
  where application_name = 'time-logs' and datname = current_database()`;

describe('a service whose database is frozen', () => {
  const postgres = useCluster();

  it('answers 503 to every request that needs it, 200 to livez, and recovers with a clean pool', () =>
    underWrites({ database: postgres }, async ({ service, url, writers, ledger }) => {
      const paths = { list: `${service.url}/api/v1/time-logs`, health: `${service.url}/health` };
      for (let round = 1; round <= ROUNDS; round++) {
        const tokens = await Promise.all(Array.from({ length: WAVES * 3 }, () => storeToken(url)));
        await postgres.freeze();
        for (let wave = 1; wave <= WAVES; wave++) {
          // None of these tokens was seen before: the service has to look it up.
          const [forHealth, forList, forCreate] = tokens.splice(0, 3);
          const waiting = [
            ask(paths.health),
            ask(`${service.url}/readyz`, { token: undefined }),
            ask(paths.list),
            ask(paths.list, { token: forList }),
            ask(paths.health, { token: forHealth }),
            ask(paths.list, { token: forCreate, body: JSON.stringify(ledger.intend()) }),
          ];
          const alive = await ask(`${service.url}/livez`, { token: undefined });
          expect([alive.status, alive.text]).toEqual([200, 'OK']);
          for (const answer of await Promise.all(waiting)) expectUnavailable(answer);
        }
        postgres.thaw();
        await writers.acknowledge(50);
        const refused = ledger.count('refused');
        await writers.acknowledge(200);
        // No connection is left in the pool that still owes an answer of before.
        expect(ledger.count('refused')).toBe(refused);
        expect(await ask(paths.health)).toMatchObject({ status: 200, text: 'OK' });
        await eventually(async () =>
          expect((await queryOnce(url, CONNECTIONS)).length).toBeLessThanOrEqual(POOL_SIZE),
        );
      }
      expect(ledger.count('cut')).toBe(0);
    }));
});
