export { AuthModule } from './auth.module.js';
export { AUTH_OPTIONS, type AuthOptions } from './auth.module-definition.js';
export { BearerAuthGuard } from './bearer-auth.guard.js';
export { BearerStrategy } from './bearer.strategy.js';
export { Scopes } from './scopes.decorator.js';
export { type Principal, TokenVerifier } from './token-verifier.js';
export { VerdictCache } from './verdict-cache.js';
export { rateLimit } from './rate-limit.js';
export { Unlimited } from './unlimited.decorator.js';
