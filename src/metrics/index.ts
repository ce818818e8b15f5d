import { READ_METRICS } from './metrics.controller.js';
import { MetricsModule } from './metrics.module.js';

/** The ServiceModule of the metrics. */
export const metrics = { bind: () => MetricsModule, scopes: [{ name: READ_METRICS }] };
