import type { ChildProcess } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { connected } from '../../support/postgres-cluster.js';
import { ask, expectUnavailable } from './support/ask.js';
import {
  recovered,
  refusedCreates,
  type ServiceUnderWrites,
  underWrites,
} from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

/** Creates that may wait, and creates at once. */
const ROOM = 100;
const CROWD = 250;
/** SQLSTATE. */
const TOO_MANY_CONNECTIONS = '53300';

describe('a service whose database has no room for it', () => {
  const postgres = useCluster({ max_connections: '20' });

  /** Does something while the table is locked, and sees that the service recovers by itself. */
  const whileLocked = async (scene: ServiceUnderWrites, act: () => Promise<void>) => {
    const owner = await connected(scene.url);
    await owner.query('begin; lock table time_logs in access exclusive mode');
    await act().finally(() => owner.end());
    await recovered(scene);
  };

  it('answers 503 in bounded time while the table is locked and the pool exhausted, but not to what needs no connection', () =>
    underWrites({ database: postgres, writers: 40 }, (scene) =>
      whileLocked(scene, async () => {
        const list = `${scene.service.url}/api/v1/time-logs`;
        await refusedCreates(scene, 40);
        for (let round = 0; round < 5; round++) {
          const needless = await Promise.all([
            ask(list, { token: undefined }),
            ask(list, { token: 'not-one-of-ours' }),
            ask(list, { body: '{"duration":0}' }),
            ask(`${list}?page=0`),
            ask(`${scene.service.url}/livez`, { token: undefined }),
          ]);
          expect(needless.map(({ status }) => status)).toEqual([401, 401, 400, 400, 200]);
        }
        expectUnavailable(await ask(list));
      }),
    ));

  it('refuses with 503 what it has no room to keep waiting, and recovers by itself', () =>
    underWrites({ database: postgres, env: { WRITE_QUEUE: String(ROOM) } }, (scene) =>
      whileLocked(scene, async () => {
        const { writers, ledger } = scene;
        const crowd = Array.from({ length: CROWD }, () => writers.record(ledger.intend()));
        for (const outcome of await Promise.all(crowd)) expect(outcome).toEqual({ kind: 'refused' });
      }),
    ));

  it('answers 503 while others hold every connection of the server, does not storm it, and recovers by itself', () =>
    underWrites({ database: postgres }, async (scene) => {
      const { service, ledger, url } = scene;
      const others: pg.Client[] = [];
      try {
        await takeEveryConnection(others, postgres.asSuperuser(url), service.child);
        const [knocks, refused] = [postgres.logged(/too many clients/), ledger.count('refused')];
        await refusedCreates(scene, 100);
        expectUnavailable(await ask(`${service.url}/health`));
        // Each request knocks once; those that are under way may have knocked and not be answered yet.
        const more = ledger.count('refused') - refused;
        expect(postgres.logged(/too many clients/) - knocks).toBeLessThanOrEqual(more + 20);
      } finally {
        await Promise.all(others.map((other) => other.end()));
      }
      await recovered(scene);
    }));
});

/**
 * Has superusers, for whom some are kept, take every connection in place of the service, which is held still
 * meanwhile.
 */
async function takeEveryConnection(others: pg.Client[], url: string, service: ChildProcess): Promise<void> {
  const first = await connected(url);
  others.push(first);
  service.kill('SIGSTOP');
  try {
    const ours = `from pg_stat_activity where application_name = 'time-logs'`;
    await first.query(`select pg_terminate_backend(pid, 5000) ${ours}`);
    for (;;) others.push(await connected(url));
  } catch (error) {
    if ((error as { code?: string }).code !== TOO_MANY_CONNECTIONS) throw error;
  } finally {
    service.kill('SIGCONT');
  }
}
