import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { timesOf } from '../../support/extent.js';
import { eventually } from '../eventually.js';
import { ask, expectUnavailable, type TimedAnswer } from './support/ask.js';
import { linesOf } from './support/serve.js';
import { refusedCreates, type ServiceUnderWrites, underWrites } from './support/service-under-writes.js';
import { killBackend, useCluster } from './support/use-cluster.js';

const ROUNDS = timesOf(5, 2);
/** Milliseconds that a reader waits after a refusal. */
const PAUSE = 20;

describe('a service whose database goes away under writes', () => {
  const postgres = useCluster();

  it.each([
    ['SIGKILL of the postmaster', 'SIGKILL'],
    ['pg_ctl stop -m immediate', 'SIGQUIT'],
    ['pg_ctl stop -m fast', 'SIGINT'],
  ] as const)('answers 503 on %s, stays up, and serves again when the database does', (_name, signal) =>
    survives(async (scene) => {
      await postgres.end(signal);
      // An outage of some length: every writer is refused several times.
      await refusedCreates(scene, 40);
      await postgres.start();
    }),
  );

  it('answers 503 on SIGKILL of one backend, which takes all others with it, and serves again when the database does', () =>
    survives(async (scene) => {
      await killBackend(postgres);
      await refusedCreates(scene, 1);
      await eventually(() => postgres.query('select 1'));
    }));

  /** Takes the database away and brings it back, again and again, under clients that list without a pause. */
  const survives = (outage: (scene: ServiceUnderWrites) => Promise<void>) =>
    underWrites({ database: postgres }, async (scene) => {
      const { service, writers, ledger } = scene;
      const refusals: TimedAnswer[] = [];
      let isListing = true;
      const list = async () => {
        while (isListing) {
          const answer = await ask(`${service.url}/api/v1/time-logs?limit=10`);
          if (answer.status === 200) continue;
          refusals.push(answer);
          await delay(PAUSE);
        }
      };
      const listing = Promise.all(Array.from({ length: 4 }, list));
      try {
        for (let round = 1; round <= ROUNDS; round++) {
          await outage(scene);
          await writers.acknowledge(1);
          await writers.acknowledge(100);
          expect([service.child.exitCode, service.child.signalCode]).toEqual([null, null]);
          // One line for the outage, not one for each request that it cost.
          expect(linesOf(service, /database unavailable/)).toBe(round);
          expect(linesOf(service, /database available again/)).toBe(round);
        }
        expect(ledger.count('cut')).toBe(0);
      } finally {
        isListing = false;
        await listing;
      }
      expect(refusals.length).toBeGreaterThan(0);
      refusals.forEach(expectUnavailable);
    });
});
