import { Injectable } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { Registry } from 'prom-client';
import { MetricsSource } from '../../libs/measures/src/index.js';
import { PrometheusMeter } from './prometheus.meter.js';

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
