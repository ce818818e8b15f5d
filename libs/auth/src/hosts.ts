/* The public names for host applications. The index is for the modules of this project. */

export { AccessGuard, PublicRoute, Scopes, Unlimited } from './access.guard.js';
export { BearerAuthModule } from './bearer-auth.module.js';
export { TokenVerifier } from './bearer-auth.options.js';
export { type Caller, callerOf, MessageCaller } from './caller.js';
export { rateLimit } from './rate-limit.js';
