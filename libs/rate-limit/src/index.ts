export { RateLimitModule } from './rate-limit.module.js';
export type { Quota } from './rate-limiter.js';
export { Unlimited } from './unlimited.decorator.js';
