/* Authentication, scopes and rate limits, so that no service has to write its own guard. */

export {
  AccessGuard,
  HOST_ACCESS,
  HOST_GUARD,
  type HostAccess,
  IS_PUBLIC,
  isBound,
  PublicRoute,
  Scopes,
  Unlimited,
} from './access.guard.js';
export { BearerAuthModule } from './bearer-auth.module.js';
export { TokenVerifier } from './bearer-auth.options.js';
export {
  ATTRIBUTE_NAME,
  isAttributeValue,
  isTooLong,
  MAX_ATTRIBUTE_LENGTH,
  MAX_ATTRIBUTE_NUMBER,
  parseProjectBinding,
} from './bounds.js';
export { anyVerifier, CachedVerifier, type Verification } from './cached.verifier.js';
export { type Caller, callerOf, type CallerResolver } from './caller.js';
export { MAX_PROJECTS, UUID } from './project-ids.js';
export { rateLimit } from './rate-limit.js';
