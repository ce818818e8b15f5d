import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { WatchedBatcher } from '../../libs/batching/src/index.js';

/** What is measured besides requests and the process, as it is at the moment. */
export interface MetricsSources {
  /** Where logs wait for the commit that stores them. */
  readonly writeQueues: readonly WatchedBatcher[];
  /** Connections of the pool, and statements that wait for one. */
  readonly pool: () => { readonly total: number; readonly idle: number; readonly waiting: number };
  /** Verdicts about tokens that are remembered; how often one was, and was not, since the start. */
  readonly tokenCache: () => { readonly size: number; readonly hits: number; readonly misses: number };
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN: METRICS_SOURCES } =
  new ConfigurableModuleBuilder<MetricsSources>({ moduleName: 'Metrics' })
    .setClassMethodName('forRoot')
    .build();
