import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import type { BearerAuthOptions } from './bearer-auth.module-definition.js';
import { DomainError } from '../../errors/src/index.js';
import { type Quota, RateLimiter } from './rate-limiter.js';

/** Exempts a route or a controller, such as a health check, from the rate limit. */
export const Unlimited = Reflector.createDecorator({ key: 'time-logs.unlimited', transform: () => true });

/** The key of callers without an id: they share one quota. */
const ANONYMOUS_KEY = '';

/**
 * Returns an `admit` for BearerAuthModule that throws DomainError RATE_LIMITED. Each HTTP response
 * has the remaining quota of the caller (draft-ietf-httpapi-ratelimit-headers-11).
 */
export function rateLimit(quota: Quota): NonNullable<BearerAuthOptions['admit']> {
  const limiter = new RateLimiter(quota);
  const reflector = new Reflector();
  const policy = `"default";q=${quota.requests};w=${quota.seconds}`;
  return ({ id }, context) => {
    if (reflector.getAllAndOverride(Unlimited, [context.getHandler(), context.getClass()])) return;
    const { isAllowed, remaining, seconds } = limiter.take(id ?? ANONYMOUS_KEY);
    if (context.getType() === 'http') {
      const response = context.switchToHttp().getResponse<Response>();
      response.setHeader('RateLimit-Policy', policy);
      response.setHeader('RateLimit', `"default";r=${remaining};t=${seconds}`);
    }
    if (!isAllowed) throw tooManyRequests(quota, seconds);
  };
}

function tooManyRequests({ requests, seconds: window }: Quota, seconds: number): DomainError {
  const message = `too many requests: a token may make ${requests} in ${window} seconds; retry after ${seconds} seconds`;
  return new DomainError('RATE_LIMITED', message, { retryAfter: seconds });
}
