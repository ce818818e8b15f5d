import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { firstColumn, queryOnce } from '../../support/postgres-cluster.js';
import { Clients } from './clients.js';
import { useFleet } from './fleet.js';

/** A folder with an earlier version, built; and how many logs it has. By hand: see README.md. */
const { UPDATE_FROM, UPDATE_LOGS = '20000' } = process.env;

if (!UPDATE_FROM)
  process.stderr.write('skipped: the update of a fleet; UPDATE_FROM names no earlier version\n');

(UPDATE_FROM ? describe : describe.skip)('a fleet of an earlier version', () => {
  const fleet = useFleet({ prepare: () => Promise.resolve() });

  it('is replaced one instance after the other while clients create', async () => {
    const folder = resolve(UPDATE_FROM!);
    const { primary } = await fleet.postgres.whole();
    // The migrations of version 0.1 set a parameter of a function.
    await primary.query('alter role time_logs superuser');
    await fleet.instances[0]!.start(folder);
    await primary.query('alter role time_logs nosuperuser');
    for (const instance of fleet.instances.slice(1)) await instance.start(folder);
    await eventually(() => fleet.reader.start(folder));
    await queryOnce(
      fleet.databaseUrl,
      `insert into time_logs (id, project_id, duration, description, date)
         select ('019c1370-4e1b-7000-8000-' || lpad(n::text, 12, '0'))::uuid, '3f2b1c00-0000-4000-8000-000000000000',
                1, 'before the update ' || n, '2026-01-31'
           from generate_series(1, ${Number(UPDATE_LOGS)}) n`,
    );
    const clients = new Clients(fleet);
    for (const { writers } of [clients.withKeys, clients.without]) await writers.acknowledge(50);

    for (const instance of fleet.all) {
      const begun = performance.now();
      for (const ledger of clients.ledgers) ledger.slowest = 0;
      const effect = await clients.through(() => instance.replace());
      const slowest = clients.ledgers.map((ledger) => Math.round(ledger.slowest));
      process.stderr.write(
        `${((performance.now() - begun) / 1_000).toFixed(1)} s: ${JSON.stringify({ ...effect, slowest })}\n`,
      );
    }
    await clients.stop();

    const stored = await firstColumn(fleet.databaseUrl, 'select id from time_logs');
    const follower = fleet.follow();
    await eventually(() => expect(follower.ids.length).toBeGreaterThanOrEqual(stored.length));
    expect(new Set(follower.logs)).toEqual(new Set(stored));
    await clients.expectNothingLost(fleet.databaseUrl);
    await fleet.verifyCounts();
  });
});
