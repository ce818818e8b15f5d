import { describe, expect, it } from '@jest/globals';
import { expectUnavailable } from './support/ask.js';
import { keepListing } from './support/listing.js';
import { eventually } from '../eventually.js';
import { timesOf } from '../../support/extent.js';
import { type ServiceUnderWrites, underWrites } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

const ROUNDS = timesOf(5, 2);
const STOPS = [
  ['SIGKILL of the postmaster', 'SIGKILL'],
  ['pg_ctl stop -m immediate', 'SIGQUIT'],
  ['pg_ctl stop -m fast', 'SIGINT'],
] as const;

describe('a service whose database goes away under writes', () => {
  const postgres = useCluster();

  it.each(STOPS)('answers 503 on %s, stays up, and serves again when the database does', (_name, signal) =>
    survives(async ({ writers, ledger }) => {
      await postgres.end(signal);
      // An outage of some length: every writer is refused several times.
      const enough = ledger.count('refused') + 40;
      await writers.until(() => ledger.count('refused') >= enough, '40 creates refused with 503');
      await postgres.start();
    }),
  );

  it('answers 503 on SIGKILL of one backend, which takes all others with it, and serves again when the database does', () =>
    survives(async ({ writers, ledger }) => {
      const [backend] = await postgres.query<{ pid: number }>(
        `select pid from pg_stat_activity where application_name = 'time-logs' order by state_change desc limit 1`,
      );
      const before = ledger.count('refused');
      process.kill(backend!.pid, 'SIGKILL');
      await writers.until(() => ledger.count('refused') > before, 'a create refused with 503');
      await eventually(() => postgres.query('select 1'));
    }));

  /** Takes the database away and brings it back, again and again. */
  async function survives(outage: (scene: ServiceUnderWrites) => Promise<void>): Promise<void> {
    await underWrites({ url: await postgres.createDatabase() }, async (scene) => {
      const { service, writers, ledger } = scene;
      const listing = keepListing(service.url, 4);
      try {
        for (let round = 1; round <= ROUNDS; round++) {
          await outage(scene);
          await writers.acknowledge(1);
          await writers.acknowledge(100);
          expect([service.child.exitCode, service.child.signalCode]).toEqual([null, null]);
          // One line for the outage, not one for each request that it cost.
          expect(linesOf(service.output(), 'database unavailable')).toBe(round);
          expect(linesOf(service.output(), 'database available again')).toBe(round);
        }
        expect(ledger.count('cut')).toBe(0);
      } finally {
        await listing.stop();
      }
      const refusals = await listing.stop();
      expect(refusals.length).toBeGreaterThan(0);
      refusals.forEach(expectUnavailable);
    });
  }
});

function linesOf(output: string, message: string): number {
  return output.split('\n').filter((line) => line.includes(message)).length;
}
