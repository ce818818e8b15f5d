import { Module, type OnModuleInit } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { MetricsSource } from '../../libs/measures/src/index.js';
import { MetricsController } from './metrics.controller.js';
import { PrometheusMeter } from './prometheus.meter.js';
import { RequestMetrics } from './request-metrics.js';

/** Provides `GET /metrics`, with the metrics of all modules. It needs BearerAuthModule. */
@Module({
  imports: [DiscoveryModule],
  controllers: [MetricsController],
  providers: [
    {
      provide: Registry,
      useFactory: () => {
        const registry = new Registry();
        collectDefaultMetrics({ register: registry });
        // Gauges with the suffix of counters. Each is the sum of the metric without this suffix.
        for (const kind of ['handles', 'requests', 'resources'])
          registry.removeSingleMetric(`nodejs_active_${kind}_total`);
        return registry;
      },
    },
    RequestMetrics,
  ],
})
export class MetricsModule implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly registry: Registry,
  ) {}

  onModuleInit(): void {
    const meter = new PrometheusMeter(this.registry);
    for (const { instance } of this.discovery.getProviders() as { instance: unknown }[]) {
      if (instance instanceof MetricsSource) instance.registerMetrics(meter);
    }
  }
}
