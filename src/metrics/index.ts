export { MetricsModule } from './metrics.module.js';
export { METRICS_TAG } from './metrics.documentation.js';
export { metricsScopes } from './metrics.scopes.js';
export { RequestMetrics } from './request-metrics.js';
