/* Limits for slow and hostile clients, and a shutdown that lets requests finish. */

export type { CorsHeaders } from './cors.js';
export { EdgeAdapter } from './edge.adapter.js';
export { HttpEdgeModule } from './http-edge.module.js';
export type { HttpEdgeOptions } from './http-edge.options.js';
export { RequestObserver } from './request-observer.js';
export { UnreadResponseLimiter } from './unread-response-limiter.js';
