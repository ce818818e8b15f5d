/* The public names for host applications. The index is for the modules of this project. */

export { AccessGuard } from './access.guard.js';
export { BearerAuthModule } from './bearer-auth.module.js';
export { BearerAuthGuard } from './bearer-auth.guard.js';
export { type Caller, callerOf, MessageCaller, Scopes } from './caller.js';
export { PublicRoute } from './public-route.decorator.js';
export { TokenVerifier } from './token-verifier.js';
export { rateLimit, Unlimited } from './rate-limit.js';
