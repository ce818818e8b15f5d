export { rateLimit } from './rate-limit.js';
export type { Quota } from './rate-limiter.js';
export { Unlimited } from './unlimited.decorator.js';
