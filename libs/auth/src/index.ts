/* Without it every service writes its own guard: who calls, with which scopes, how often, and how a refusal is told. */

export { AccessGuard, HOST_ACCESS, HOST_GUARD, type HostAccess } from './access.guard.js';
export { AUTH_HEADERS, BearerAuthModule } from './bearer-auth.module.js';
export { AUTH_OPTIONS, type BearerAuthOptions } from './bearer-auth.module-definition.js';
export { BearerAuthGuard } from './bearer-auth.guard.js';
export { ByFormVerifier } from './by-form.verifier.js';
export { type Caller, callerOf, type CallerOf, MessageCaller } from './caller.js';
export { PublicRoute, IS_PUBLIC } from './public-route.decorator.js';
export { Scopes } from './scopes.decorator.js';
export { MOST_PROJECTS, soundProjects } from './projects.js';
export { TokenVerifier } from './token-verifier.js';
export { VerdictCache } from './verdict-cache.js';
export { rateLimit } from './rate-limit.js';
export { Unlimited } from './unlimited.decorator.js';
