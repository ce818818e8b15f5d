import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { median, percentile } from '../bench/statistics.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { eventually } from '../../../src/time-log/contract/eventually.js';
import { GoodClient } from './support/good-client.js';
import { PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { filesOf } from './support/process-usage.js';
import { TOKEN } from './support/service-under-writes.js';

/**
 * What abusers do, all at once: requests a second, and sockets at a time (slow ones: so many with headers, and with
 * bodies).
 */
const ABUSE = { wrongTokens: 1_000, aborts: 20, idle: 1_000, slow: 25 };
const WRONG_TOKENS = 100_000;
/** Requests of the good client a second, those that one p99 is taken of, and at least in all windows of a kind. */
const GOOD = { rate: 100, slice: 200, samples: 2_000 };
/** Milliseconds. An abused window is longer than the limits of headers and body; the first seconds of it count too. */
const WINDOWS = { pairs: 5, quiet: 12_000, abused: 21_000, settle: 1_000 };
const MOST_FACTOR = 2;
const POOL_SIZE = 10;
/** Milliseconds after which a connection of the pool that was needed for a moment is closed, with some to spare. */
const IDLE_LIMIT = 20_000;
const FIXTURE = join(import.meta.dirname, 'support', 'abusers.fixture.mjs');

interface Counts {
  readonly wrongTokens: number;
  readonly aborts: number;
  readonly idle: number;
  readonly timedOut: number;
  readonly otherAnswers: readonly string[];
}

// In the full run alone: latencies tell nothing while other tests run beside this one.
describe('a service that is abused', () => {
  let postgres: PostgresCluster;
  let url: string;
  let service: ServiceProcess;
  let abusers: ChildProcess;
  let good: GoodClient;

  beforeAll(async () => {
    postgres = await PostgresCluster.create();
    url = await postgres.createDatabase();
    service = await startService({ DATABASE_URL: url, ACCESS_TOKEN: TOKEN });
    abusers = fork(FIXTURE, [String(service.port), TOKEN, JSON.stringify(ABUSE)], { execArgv: [] });
    good = new GoodClient({ port: service.port, token: TOKEN, rate: GOOD.rate });
  });
  afterAll(async () => {
    good.close();
    abusers.disconnect();
    await service.end('SIGKILL');
    await postgres.remove();
  });

  /** Measures the good client while the abusers are at work, and what those have done. */
  async function measureAbused(): Promise<[latencies: number[], counts: Counts]> {
    abusers.send('begin');
    const latencies = await good.measure(WINDOWS.abused);
    const answer = once(abusers, 'message');
    abusers.send('end');
    const [counts] = (await answer) as [Counts];
    return [latencies, counts];
  }

  it(
    `serves others at most ${MOST_FACTOR} times as slowly beside ${WRONG_TOKENS} wrong tokens, ${ABUSE.idle} idle sockets, ` +
      'slow headers, slow bodies and aborted creates, and is as it was afterwards',
    async () => {
      // Connections of the pool and compiled code are there before anything counts.
      await good.measure(5_000);
      const files = await filesOf(service.child.pid!);
      const latencies: Record<'quiet' | 'abused', number[]> = { quiet: [], abused: [] };
      const done: Counts[] = [];
      for (let pair = 0; pair < WINDOWS.pairs; pair++) {
        latencies.quiet.push(...(await good.measure(WINDOWS.quiet)));
        const [abused, counts] = await measureAbused();
        latencies.abused.push(...abused);
        done.push(counts);
        await delay(WINDOWS.settle);
      }
      const quiet = summaryOf(latencies.quiet);
      const abused = summaryOf(latencies.abused);
      const sum = (of: (counts: Counts) => number) => done.reduce((total, counts) => total + of(counts), 0);
      console.log(
        `${sum(({ wrongTokens }) => wrongTokens)} wrong tokens, ${sum(({ aborts }) => aborts)} aborted creates, ` +
          `${sum(({ timedOut }) => timedOut)} slow requests refused\n` +
          Object.entries({ quiet, abused })
            .map(([kind, summary]) => `${kind}: ${JSON.stringify(summary)}`)
            .join('\n'),
      );

      expect(sum(({ wrongTokens }) => wrongTokens)).toBeGreaterThanOrEqual(WRONG_TOKENS);
      expect(done.map(({ idle }) => idle)).toEqual(done.map(() => ABUSE.idle));
      for (const { timedOut } of done) expect(timedOut).toBeGreaterThanOrEqual(2 * ABUSE.slow);
      expect(done.flatMap(({ otherAnswers }) => otherAnswers)).toEqual([]);
      expect(good.faults).toEqual([]);
      for (const { requests } of [quiet, abused]) expect(requests).toBeGreaterThanOrEqual(GOOD.samples);
      expect(abused.p99).toBeLessThanOrEqual(MOST_FACTOR * quiet.p99);

      await eventually(
        // One more: the connection that looks for overdue statements comes with the first of them.
        async () => expect(await filesOf(service.child.pid!)).toBeLessThanOrEqual(files + 1),
        IDLE_LIMIT,
      );
      const connections = `select 1 from pg_stat_activity where application_name = 'time-logs'`;
      expect((await queryOnce(url, connections)).length).toBeLessThanOrEqual(POOL_SIZE);
    },
    WINDOWS.pairs * (WINDOWS.quiet + WINDOWS.abused + WINDOWS.settle) + 60_000,
  );
});

/**
 * Milliseconds. `p99` is the median of the p99 of every two seconds, so that a stall of the machine does not decide;
 * `pooled` that of all.
 */
function summaryOf(latencies: readonly number[]) {
  const share = (list: readonly number[], part: number) =>
    percentile(
      list.toSorted((a, b) => a - b),
      part,
    );
  const slices = Array.from({ length: Math.floor(latencies.length / GOOD.slice) }, (_, index) =>
    latencies.slice(index * GOOD.slice, (index + 1) * GOOD.slice),
  );
  return {
    requests: latencies.length,
    p50: share(latencies, 0.5),
    p99: median(slices.map((slice) => share(slice, 0.99))),
    pooled: share(latencies, 0.99),
  };
}
