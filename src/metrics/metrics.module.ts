import { Module, type OnModuleInit } from '@nestjs/common';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { MetricsController } from './metrics.controller.js';
import { RequestMetrics } from './request-metrics.js';
import { TimeLogMetrics } from './time-log-metrics.js';

/** Provides `GET /metrics`, with the metrics of all modules. It needs BearerAuthModule. */
@Module({
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
    TimeLogMetrics,
  ],
})
export class MetricsModule implements OnModuleInit {
  constructor(
    private readonly metrics: TimeLogMetrics,
    private readonly registry: Registry,
  ) {}

  onModuleInit(): void {
    this.metrics.register(this.registry);
  }
}
