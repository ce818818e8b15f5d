import { Module } from '@nestjs/common';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { MetricsController } from './metrics.controller.js';
import {
  ConfigurableModuleClass,
  METRICS_SOURCES,
  type MetricsSources,
} from './metrics.module-definition.js';
import { RequestMetrics } from './request-metrics.js';
import { registerServiceMetrics } from './service-metrics.js';

/** `GET /metrics`, for Prometheus. Needs AuthModule; RequestMetrics must be told of each request. */
@Module({
  controllers: [MetricsController],
  providers: [
    {
      provide: Registry,
      inject: [METRICS_SOURCES],
      useFactory: (sources: MetricsSources) => {
        const registry = new Registry();
        collectDefaultMetrics({ register: registry });
        registerServiceMetrics(registry, sources);
        return registry;
      },
    },
    RequestMetrics,
  ],
  exports: [RequestMetrics],
})
export class MetricsModule extends ConfigurableModuleClass {}
