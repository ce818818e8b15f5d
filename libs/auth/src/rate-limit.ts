import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { LRUCache } from 'lru-cache';
import type { BearerAuthOptions } from './bearer-auth.options.js';
import { DomainError } from '../../errors/src/index.js';
import { Unlimited } from './access.guard.js';

/** The maximum number of requests of a caller in a window of time. */
export interface Quota {
  readonly requests: number;
  readonly seconds: number;
}

/** The maximum number of callers with a window. Beyond that the idlest ones get a new window early. */
const MAX_CALLERS = 100_000;
/** The key of callers without an id: they share one quota. */
const ANONYMOUS_KEY = '';

/**
 * Returns an `admit` for BearerAuthModule that throws DomainError RATE_LIMITED. The window of a caller begins with its
 * first request. Each HTTP response has the remaining quota (draft-ietf-httpapi-ratelimit-headers-11).
 */
export function rateLimit(
  quota: Quota,
  /** Returns a monotonic time in milliseconds. */
  now: () => number = () => performance.now(),
): NonNullable<BearerAuthOptions['admit']> {
  const windows = new LRUCache<string, { used: number }>({
    max: MAX_CALLERS,
    ttl: quota.seconds * 1_000,
    ttlResolution: 0,
    perf: { now },
  });
  const reflector = new Reflector();
  const policy = `"default";q=${quota.requests};w=${quota.seconds}`;
  return ({ id = ANONYMOUS_KEY }, context) => {
    if (reflector.getAllAndOverride(Unlimited, [context.getHandler(), context.getClass()])) return;
    const window = windows.get(id) ?? { used: 0 };
    if (window.used === 0) windows.set(id, window);
    const isAllowed = window.used < quota.requests;
    if (isAllowed) window.used++;
    const seconds = Math.max(1, Math.ceil(windows.getRemainingTTL(id) / 1_000));
    if (context.getType() === 'http') {
      const response = context.switchToHttp().getResponse<Response>();
      response.setHeader('RateLimit-Policy', policy);
      response.setHeader('RateLimit', `"default";r=${quota.requests - window.used};t=${seconds}`);
    }
    if (!isAllowed) throw tooManyRequests(quota, seconds);
  };
}

function tooManyRequests({ requests, seconds: window }: Quota, seconds: number): DomainError {
  const message = `too many requests: a token may make ${requests} in ${window} seconds; retry after ${seconds} seconds`;
  return new DomainError('RATE_LIMITED', message, { retryAfter: seconds });
}
