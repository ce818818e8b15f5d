import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { Request, Response } from 'express';
import { withinDeadline } from '../../strict-request/src/index.js';
import { DomainError, ERROR_KINDS } from '../../errors/src/index.js';
import { AUTH_OPTIONS, type AuthOptions } from './auth.module-definition.js';
import { BEARER_STRATEGY, type BearerStrategy } from './bearer.strategy.js';
import { OpenRoute } from './open.decorator.js';
import { keepCaller } from './caller.js';
import { missingScope } from './scopes.decorator.js';
import type { Principal } from './token-verifier.js';

/**
 * Lets a request pass if its bearer token is valid and has the scopes of the route, and puts its Principal into
 * `request.user`. On an `Open` route it lets every request pass. Throws DomainError UNAUTHORIZED or FORBIDDEN and sets
 * the challenge (RFC 6750, section 3), or throws what the app's `admit` throws.
 *
 * The token of a message (Nest's `rpc` context) is the member `accessToken` of its data: not all transports carry
 * headers. Its principal is found by `callerOf(data)`.
 */
@Injectable()
export class BearerAuthGuard extends AuthGuard() {
  constructor(
    @Inject(BEARER_STRATEGY) strategy: BearerStrategy,
    @Inject(AUTH_OPTIONS) private readonly auth: AuthOptions,
    protected readonly reflector: Reflector,
  ) {
    super({ defaultStrategy: strategy.name });
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.get(OpenRoute, context.getHandler())) return true;
    return withinDeadline(calledOf(context), super.canActivate(context) as Promise<boolean>);
  }

  /**
   * The object that passport works on: a copy, so that passport leaves nothing on the request. It needs only headers.
   */
  override getRequest(context: ExecutionContext): never {
    const { headers, rawHeaders } = isMessage(context)
      ? { headers: credentialsIn(calledOf(context)), rawHeaders: [] }
      : context.switchToHttp().getRequest<Request>();
    return { headers, rawHeaders } as never;
  }

  /** @nestjs/passport calls this with the strategy's verdict: an error, a principal, or the challenge in `info`. */
  override handleRequest<TUser extends Principal = Principal>(
    error: unknown,
    principal: TUser | false,
    info: unknown,
    context: ExecutionContext,
  ): TUser {
    if (error) throw error as Error;
    if (!principal) {
      this.challenge(context, typeof info === 'string' ? info : `Bearer realm="${this.auth.realm}"`);
      throw new DomainError('UNAUTHORIZED', ERROR_KINDS.UNAUTHORIZED.message);
    }
    // Before the refusals below, so that their lines in the log name the caller too.
    keepCaller(context, principal);
    if (!isMessage(context)) context.switchToHttp().getRequest<Request>().user = principal;
    this.requireScopes(principal, context);
    this.auth.admit?.(principal, context);
    return principal;
  }

  private requireScopes(principal: Principal, context: ExecutionContext): void {
    const scope = missingScope(this.reflector, principal, context);
    if (scope === undefined) return;
    this.challenge(
      context,
      `Bearer realm="${this.auth.realm}", error="insufficient_scope", scope="${scope}"`,
    );
    throw new DomainError('FORBIDDEN', `the token lacks the scope ${scope}`);
  }

  /** A message has no header for a challenge. */
  private challenge(context: ExecutionContext, challenge: string): void {
    if (isMessage(context)) return;
    context.switchToHttp().getResponse<Response>().setHeader('WWW-Authenticate', challenge);
  }
}

function isMessage(context: ExecutionContext): boolean {
  return context.getType() === 'rpc';
}

/** The request, or the data of the message. Throws DomainError UNAUTHORIZED for data that is no object. */
function calledOf(context: ExecutionContext): object {
  const called = context.getArgByIndex<unknown>(0);
  if (typeof called === 'object' && called !== null && !Array.isArray(called)) return called;
  throw new DomainError('UNAUTHORIZED', ERROR_KINDS.UNAUTHORIZED.message);
}

/** The headers of a request whose only one is the token of a message. */
function credentialsIn(data: { readonly accessToken?: unknown }): { readonly authorization?: string } {
  const { accessToken } = data;
  const isToken = typeof accessToken === 'string' && !accessToken.startsWith(' ');
  return isToken ? { authorization: `Bearer ${accessToken}` } : {};
}
