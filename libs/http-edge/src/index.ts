/* Without it slow, rude and endless clients take memory and sockets, and a shutdown cuts requests off. */

export type { CorsHeaders } from './cors.js';
export { EdgeAdapter } from './edge.adapter.js';
export { HttpEdgeModule } from './http-edge.module.js';
export type { HttpEdgeOptions, RequestLimits } from './http-edge.options.js';
export { RequestObserver } from './request-observer.js';
export { UnreadAnswers } from './unread-answers.js';
