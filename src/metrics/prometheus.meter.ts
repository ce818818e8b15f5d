import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Meter, Observer } from '../../libs/measures/src/index.js';

/** Registers metrics with prom-client. Gauges and counters are read when they are collected. */
export class PrometheusMeter implements Meter {
  constructor(private readonly registry: Registry) {}

  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  counter(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  histogram(name: string, help: string, buckets: readonly number[]): Observer {
    return new Histogram({ name, help, buckets: [...buckets], registers: [this.registry] });
  }
}
