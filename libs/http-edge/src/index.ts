/* One form for every response, also those that Node makes, and a shutdown that lets requests finish. */

export { EdgeAdapter } from './edge.adapter.js';
export { HttpEdgeModule } from './http-edge.module.js';
export { RequestObserver } from './http-edge.options.js';
