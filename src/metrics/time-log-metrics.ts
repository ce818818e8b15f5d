import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { Injectable } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { type Meter, type Observer, MetricsSource } from '../../libs/measures/src/index.js';

/** The metrics of all our modules in an app, for prom-client. */
@Injectable()
export class TimeLogMetrics {
  constructor(private readonly modules: ModulesContainer) {}

  /** Adds them to a registry. Call it once, in `onModuleInit` or later. */
  register(registry: Registry): void {
    const meter = new PrometheusMeter(registry);
    const providers = [...this.modules.values()].flatMap((module) => [...module.providers.values()]);
    for (const instance of new Set(providers.map((provider): unknown => provider.instance)))
      if (instance instanceof MetricsSource) instance.registerMetrics(meter);
  }
}

/**
 * Registers metrics with prom-client. Gauges and counters are read when they are collected. A host may have a module
 * twice: then a metric combines the values of both.
 */
export class PrometheusMeter implements Meter {
  private readonly readers = new Map<string, (() => unknown)[]>();

  constructor(private readonly registry: Registry) {}

  gauge(name: string, help: string, read: () => number, combine = sum): void {
    this.add(name, read, (values) => {
      const collect = function (this: Gauge) {
        this.set(values().reduce((a, b) => combine(a, b)));
      };
      new Gauge({ name, help, registers: [this.registry], collect });
    });
  }

  info(name: string, help: string, label: string, read: () => string | undefined): void {
    this.add(name, read, (values) => {
      const collect = function (this: Gauge) {
        this.reset();
        for (const value of values()) if (value !== undefined) this.set({ [label]: value }, 1);
      };
      new Gauge({ name, help, labelNames: [label], registers: [this.registry], collect });
    });
  }

  counter(name: string, help: string, read: () => number): void {
    this.add(name, read, (values) => {
      const collect = function (this: Counter) {
        this.reset();
        this.inc(values().reduce(sum));
      };
      new Counter({ name, help, registers: [this.registry], collect });
    });
  }

  histogram(name: string, help: string, buckets: readonly number[]): Observer {
    const known = this.registry.getSingleMetric(name) as Histogram | undefined;
    return known ?? new Histogram({ name, help, buckets: [...buckets], registers: [this.registry] });
  }

  /** Creates a new metric with a function that reads its values. Adds `read` to a known one. */
  private add<Value>(
    name: string,
    read: () => Value,
    create: (readAll: () => readonly Value[]) => void,
  ): void {
    const readers = (this.readers.get(name) ?? []) as (() => Value)[];
    readers.push(read);
    if (readers.length > 1) return;
    this.readers.set(name, readers);
    create(() => readers.map((one) => one()));
  }
}

function sum(a: number, b: number): number {
  return a + b;
}
