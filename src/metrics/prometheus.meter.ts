import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Meter, Observer } from '../../libs/measures/src/index.js';

/**
 * Registers metrics with prom-client. Gauges and counters are read when they are collected. A host may have a module
 * twice: then a metric combines the values of both.
 */
export class PrometheusMeter implements Meter {
  private readonly readers = new Map<string, (() => number)[]>();

  constructor(private readonly registry: Registry) {}

  gauge(name: string, help: string, read: () => number, combine = add): void {
    const collected = this.collected(name, read, combine);
    if (!collected) return;
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(collected());
      },
    });
  }

  counter(name: string, help: string, read: () => number): void {
    const collected = this.collected(name, read, add);
    if (!collected) return;
    new Counter({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(collected());
      },
    });
  }

  histogram(name: string, help: string, buckets: readonly number[]): Observer {
    const known = this.registry.getSingleMetric(name) as Histogram | undefined;
    return known ?? new Histogram({ name, help, buckets: [...buckets], registers: [this.registry] });
  }

  /** Returns a function that reads a new metric. Adds `read` to a known one, and returns undefined. */
  private collected(
    name: string,
    read: () => number,
    combine: (a: number, b: number) => number,
  ): (() => number) | undefined {
    const readers = this.readers.get(name);
    if (readers) return void readers.push(read);
    const all = [read];
    this.readers.set(name, all);
    return () => all.map((one) => one()).reduce((a, b) => combine(a, b));
  }
}

function add(a: number, b: number): number {
  return a + b;
}
