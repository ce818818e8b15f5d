export { limitWaiting, withinDeadline } from './deadline.js';
export { DEPTH_LIMIT, limitBody } from './json-body.js';
export { Obeys, type Rule } from './obeys.decorator.js';
export { REQUEST_BOUNDS, type RequestBounds, RequestBoundsGuard } from './request-bounds.guard.js';
export { StrictBody, StrictHeaders, StrictQuery } from './strict-request.decorators.js';
