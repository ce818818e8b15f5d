import { TIME_LOG_LIMITS } from '../time-log/time-log.limits.js';

/** The limits of the service that are not settings. Times are in milliseconds unless stated otherwise. */
export const LIMITS = {
  ...TIME_LOG_LIMITS,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 65_000,
  /** The maximum size of the request line and headers, in bytes. */
  headersLimit: 16_384,
  /** The maximum number of verified tokens in memory. */
  tokenCache: 10_000,
};
