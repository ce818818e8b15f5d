import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { MetricsSources } from './metrics.module-definition.js';

/** Logs of one commit. */
const BATCH_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200];
/** Seconds. */
const WAIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Adds what tells how the service is doing inside. What is a state is read when it is asked for, and costs nothing else. */
export function registerServiceMetrics(
  registry: Registry,
  { writeQueues, pool, tokenCache }: MetricsSources,
): void {
  const registers = [registry];
  const size = new Histogram({
    name: 'time_log_write_batch_size',
    help: 'Time logs that were handed on together, to be written in one commit.',
    buckets: BATCH_BUCKETS,
    registers,
  });
  const wait = new Histogram({
    name: 'time_log_write_wait_seconds',
    help: 'Time that each time log waited until its commit began.',
    buckets: WAIT_BUCKETS,
    registers,
  });
  for (const queue of writeQueues) {
    queue.onRun = (waits) => {
      size.observe(waits.length);
      for (const milliseconds of waits) wait.observe(milliseconds / 1_000);
    };
  }
  gauge('time_log_write_queue_length', 'Time logs that wait for a commit.', () =>
    writeQueues.reduce((sum, { length }) => sum + length, 0),
  );

  gauge('database_pool_connections', 'Connections of the pool.', () => pool().total);
  gauge('database_pool_idle_connections', 'Connections of the pool that nobody uses.', () => pool().idle);
  gauge(
    'database_pool_waiting_statements',
    'Statements that wait for a connection of the pool.',
    () => pool().waiting,
  );

  counter('access_token_cache_hits_total', 'Tokens whose verdict was remembered.', () => tokenCache().hits);
  counter(
    'access_token_cache_misses_total',
    'Tokens whose verdict was not remembered, so that the database was asked.',
    () => tokenCache().misses,
  );
  gauge('access_token_cache_entries', 'Verdicts about tokens that are remembered.', () => tokenCache().size);

  function gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }

  /** Of something that is counted elsewhere. */
  function counter(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }
}
