export { EdgeAdapter, HEADERS_LIMIT } from './edge.adapter.js';
export { type TellableLimits, withEdge } from './http-edge.documentation.js';
export { HttpEdgeModule } from './http-edge.module.js';
export { DEFAULT_LIMITS, type HttpEdgeOptions, type RequestLimits } from './http-edge.options.js';
