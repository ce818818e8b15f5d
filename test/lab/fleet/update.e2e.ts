import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { audit } from '../faults/support/audit.js';
import { eventually } from '../eventually.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { Clients } from './clients.js';
import { Fleet } from './fleet.js';

/** A folder with an earlier version, built; and how many logs it has. By hand: see docker/FLEET.md. */
const { UPDATE_FROM, UPDATE_LOGS = '20000' } = process.env;

if (!UPDATE_FROM)
  process.stderr.write('skipped: the update of a fleet; UPDATE_FROM names no earlier version\n');

(UPDATE_FROM ? describe : describe.skip)('a fleet of an earlier version', () => {
  let fleet: Fleet;
  const stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    fleet = await Fleet.start();
    stops.push(() => fleet.stop());
  });
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  });

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
    stops.push(() => clients.stop());
    for (const { writers } of [clients.withKeys, clients.without]) await writers.acknowledge(50);

    for (const instance of [...fleet.instances, fleet.reader]) {
      const begun = performance.now();
      for (const ledger of clients.ledgers) ledger.slowest = 0;
      const effect = await clients.through(async () => {
        await instance.end();
        await instance.start();
      });
      const slowest = clients.ledgers.map((ledger) => Math.round(ledger.slowest));
      process.stderr.write(
        `${((performance.now() - begun) / 1_000).toFixed(1)} s: ${JSON.stringify({ ...effect, slowest })}\n`,
      );
    }
    await clients.stop();

    const stored = await queryOnce<{ id: string }>(fleet.databaseUrl, 'select id from time_logs');
    const follower = fleet.follow();
    stops.push(() => follower.stop());
    await eventually(() => expect(follower.ids.length).toBeGreaterThanOrEqual(stored.length));
    expect(new Set(follower.logs)).toEqual(new Set(stored.map(({ id }) => id)));
    for (const ledger of clients.ledgers) {
      expect(ledger.unexpected).toEqual([]);
      const { lost, doubled } = await audit(fleet.databaseUrl, ledger);
      expect({ lost, doubled }).toEqual({ lost: [], doubled: [] });
    }
    await fleet.verifyCounts();
  });
});
