import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { timesOf } from '../../support/extent.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { percentiles } from '../bench/statistics.js';
import { eventually } from '../eventually.js';
import { filesOf } from './support/process-usage.js';
import { TOKEN, underWrites } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

const FIXTURE = join(import.meta.dirname, 'support', 'abusers.fixture.mjs');
/** Requests a second, and sockets at a time: the slow ones twice, with headers and with bodies. */
const RATES = { wrongTokens: 1_000, aborts: 20, idle: 1_000, slow: 25 };
const WRONG_TOKENS = timesOf(100_000, 5_000);
/** Creates that are measured before and after the abuse. */
const QUIET = timesOf(5_000, 200);
const POOL_SIZE = 10;
/** Files and sockets that a service opens when it first needs them, such as the connections of its pool. */
const OWN_FILES = 20;

interface Counts {
  readonly wrongTokens: number;
  readonly aborts: number;
  readonly idle: number;
  readonly timedOut: number;
  readonly otherAnswers: readonly string[];
}

describe('a service with rude clients', () => {
  const postgres = useCluster();

  it(`serves others beside ${WRONG_TOKENS} wrong tokens, ${RATES.idle} idle sockets, slow headers, slow bodies and aborted creates, refuses the slow with 408, and leaks nothing`, () =>
    underWrites(
      { database: postgres, writers: 4, pace: 20 },
      async ({ service: { port, child }, url, writers, ledger }) => {
        await writers.acknowledge(QUIET);
        const [before, quiet] = [await filesOf(child.pid!), ledger.latencies.length];
        const abusers = fork(FIXTURE, [String(port), TOKEN, JSON.stringify(RATES)], { execArgv: [] });
        const tell = async (message: string) => {
          const answer = once(abusers, 'message');
          abusers.send(message);
          return (await answer)[0] as Counts;
        };
        try {
          await tell('begin');
          await eventually(async () => {
            const { wrongTokens, idle, timedOut } = await tell('count');
            expect(wrongTokens).toBeGreaterThanOrEqual(WRONG_TOKENS);
            expect(idle).toBe(RATES.idle);
            expect(timedOut).toBeGreaterThanOrEqual(2 * RATES.slow);
          });
          await writers.acknowledge(200);
          const [{ aborts, otherAnswers }, abused] = [await tell('end'), ledger.latencies.length];
          expect(otherAnswers).toEqual([]);
          expect([ledger.count('refused'), ledger.count('cut')]).toEqual([0, 0]);
          await eventually(async () =>
            expect(await filesOf(child.pid!)).toBeLessThanOrEqual(before + OWN_FILES),
          );
          const ours = `select from pg_stat_activity where application_name = 'time-logs'`;
          expect((await queryOnce(url, ours)).length).toBeLessThanOrEqual(POOL_SIZE);
          // A create may be stored although its client was gone.
          const aborted = `delete from time_logs where description = 'aborted' returning id`;
          const stored = await queryOnce(url, aborted);
          expect(stored.length).toBeLessThanOrEqual(aborts);
          await writers.acknowledge(200);
          expect(ledger.count('refused')).toBe(0);
          const summary = (from: number, to: number) =>
            percentiles(ledger.latencies.slice(from, to), 0.5, 0.99).join(' and ');
          console.log(
            `creates, p50 and p99 in ms: quiet ${summary(0, quiet)}, abused ${summary(quiet, abused)}`,
          );
        } finally {
          abusers.disconnect();
        }
      },
    ));
});
