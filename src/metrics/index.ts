import { MetricsModule } from './metrics.module.js';
import { metricsScopes } from './metrics.scopes.js';

/** The ServiceModule of the metrics. */
export const metrics = { bind: () => MetricsModule, scopes: metricsScopes };
