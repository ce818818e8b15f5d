export { READ_METRICS } from './metrics.controller.js';
export { MetricsModule } from './metrics.module.js';
