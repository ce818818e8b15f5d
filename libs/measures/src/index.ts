/* The interface by which modules publish metrics without knowing Prometheus. */

export { MetricsSource, type Meter } from './metrics-source.js';
