import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import type { Principal } from '../../auth/src/index.js';
import { DomainError } from '../../errors/src/index.js';
import { type Quota, RateLimiter } from './rate-limiter.js';
import { Unlimited } from './unlimited.decorator.js';

export const QUOTA = Symbol('QUOTA');

/**
 * Lets a principal make as many requests as its quota allows, and tells it on each answer what is left (RateLimit header
 * fields for HTTP, draft-ietf-httpapi-ratelimit-headers-11). Throws DomainError RATE_LIMITED beyond it.
 * An interceptor and no guard: the guards of an app run before those of a controller, which find out who the principal is.
 * The body is read later still.
 */
@Injectable()
export class RateLimitInterceptor implements NestInterceptor {
  private readonly limiter: RateLimiter;

  constructor(
    @Inject(QUOTA) private readonly quota: Quota,
    private readonly reflector: Reflector,
  ) {
    this.limiter = new RateLimiter(quota);
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const principal = context.switchToHttp().getRequest<Request>().user as Principal | undefined;
    if (principal !== undefined && !this.isUnlimited(context)) {
      this.count(principal, context.switchToHttp().getResponse<Response>());
    }
    return next.handle();
  }

  private isUnlimited(context: ExecutionContext): boolean {
    return this.reflector.getAllAndOverride(Unlimited, [context.getHandler(), context.getClass()]);
  }

  private count({ id }: Principal, response: Response): void {
    const { requests, seconds: window } = this.quota;
    const { isAllowed, remaining, seconds } = this.limiter.take(id);
    response.setHeader('RateLimit-Policy', `"default";q=${requests};w=${window}`);
    response.setHeader('RateLimit', `"default";r=${remaining};t=${seconds}`);
    if (isAllowed) return;
    const message = `too many requests: a token may make ${requests} in ${window} seconds; retry after ${seconds} seconds`;
    throw new DomainError('RATE_LIMITED', message, { retryAfter: seconds });
  }
}
