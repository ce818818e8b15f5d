/* Authentication, scopes and rate limits, so that no service has to write its own guard. */

export { AccessGuard, HOST_ACCESS, HOST_GUARD, type HostAccess } from './access.guard.js';
export { BearerAuthModule } from './bearer-auth.module.js';
export { AUTH_OPTIONS, type BearerAuthOptions } from './bearer-auth.module-definition.js';
export { BearerAuthGuard } from './bearer-auth.guard.js';
export { DelegatingVerifier } from './delegating.verifier.js';
export { type Caller, callerOf, type CallerResolver, MessageCaller, Scopes } from './caller.js';
export { PublicRoute, IS_PUBLIC } from './public-route.decorator.js';
export {
  ATTRIBUTE_NAME,
  isAttributeBinding,
  isAttributeValue,
  isTooLong,
  MAX_ATTRIBUTE_LENGTH,
  MAX_ATTRIBUTE_NUMBER,
  MAX_ATTRIBUTES,
} from './attribute-binding.js';
export { MAX_PROJECTS, parseProjectBinding } from './project-binding.js';
export { TokenVerifier } from './token-verifier.js';
export { VerificationCache } from './verification-cache.js';
export { rateLimit, Unlimited } from './rate-limit.js';
