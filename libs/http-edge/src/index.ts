export { EdgeAdapter } from './edge.adapter.js';
export { HttpEdgeModule } from './http-edge.module.js';
export type { HttpEdgeOptions, RequestLimits } from './http-edge.options.js';
