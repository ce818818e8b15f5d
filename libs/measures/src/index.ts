/* The interface by which modules publish metrics without knowing Prometheus. */

export { MetricsSource, type Meter, type Observer } from './metrics-source.js';
