import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { queryOnce } from '../../support/postgres-cluster.js';
import { patientClient } from './support/patient-client.js';
import { serve } from './support/serve.js';
import { TOKEN, underWrites } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

/**
 * What a stopping service owes to reads and slow requests, SHUTDOWN_DELAY and a start that is interrupted:
 * test/process/shutdown.e2e.ts.
 */
describe('a service that is told to stop under writes', () => {
  const postgres = useCluster();

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'answers every create that it has taken on, and exits with 0, on %s sent twice',
    (signal) =>
      underWrites({ database: postgres }, async (scene) => {
        const { child } = scene.service;
        const exit = once(child, 'exit');
        child.kill(signal);
        child.kill(signal);
        expect(await exit).toEqual([0, null]);
        const cut = [...scene.ledger.unknown]
          .filter(([, kind]) => kind === 'cut')
          .map(([description]) => description);
        // A connection may end just as its client sends: what the service has not read it has not stored.
        const stored = 'select description from time_logs where description = any($1)';
        expect(await queryOnce(scene.url, stored, [cut])).toEqual([]);
        await scene.restart();
      }),
  );

  it('exits with 0 also while its database is frozen', () =>
    underWrites({ database: postgres }, async (scene) => {
      await postgres.freeze();
      try {
        expect(await scene.service.end('SIGTERM')).toBe(0);
      } finally {
        postgres.thaw();
      }
      await scene.restart();
    }));

  it('is found again by a client of the package, whose logs are each stored once, after SIGKILL and SIGTERM', async () => {
    const url = await postgres.createDatabase();
    let service = await serve(url);
    const client = patientClient(TOKEN, () => service.url);
    const projectId = randomUUID();
    const record = async () => (await client.record({ projectId, duration: 1, date: '2026-01-31' })).id;
    const recorded: string[] = [];
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const records = Array.from({ length: 200 }, record);
      const all = Promise.allSettled(records);
      await Promise.race(records);
      await service.end(signal);
      service = await serve(url);
      await all;
      recorded.push(...(await Promise.all(records)));
    }
    const { data, meta } = await client.listPage({ projectId, limit: 1_000 });
    expect(meta.total).toBe(400);
    expect(data.map(({ id }) => id).toSorted()).toEqual(recorded.toSorted());
  });
});
