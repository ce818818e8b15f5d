import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { isJsonObject, withinDeadline } from '../../strict-request/src/index.js';
import { DomainError } from '../../errors/src/index.js';
import { AUTH_OPTIONS, type BearerAuthOptions } from './bearer-auth.module-definition.js';
import { BEARER_STRATEGY, type BearerStrategy } from './bearer.strategy.js';
import { IS_PUBLIC } from './public-route.decorator.js';
import { type Caller, storeCaller } from './caller.js';
import { Credentials, PassportAuthenticator, type PassportResult } from './passport-authenticator.js';
import { missingScopes } from './scopes.decorator.js';

/**
 * Lets a request pass if its bearer token is valid and has the scopes of the route, and stores its
 * Caller in `request.user`. Every request to a `PublicRoute` passes. Throws DomainError
 * UNAUTHORIZED or FORBIDDEN and sets the challenge (RFC 6750, section 3), or throws the error of
 * the application's `admit`.
 *
 * The token of a message (Nest's `rpc` context) is the member `accessToken` of its data, because
 * some transports have no headers. `callerOf(data)` returns its caller.
 */
@Injectable()
export class BearerAuthGuard implements CanActivate {
  private readonly passport: PassportAuthenticator;

  constructor(
    @Inject(BEARER_STRATEGY) strategy: BearerStrategy,
    @Inject(AUTH_OPTIONS) private readonly auth: BearerAuthOptions,
    protected readonly reflector: Reflector,
  ) {
    this.passport = new PassportAuthenticator(strategy.name);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.get(IS_PUBLIC, context.getHandler())) return true;
    const input = requestOrDataOf(context);
    const credentials = isMessage(context)
      ? Credentials.ofMessage(input)
      : Credentials.ofRequest(input as Request);
    this.authorize(await withinDeadline(input, this.passport.authenticate(credentials)), context);
    return true;
  }

  private authorize({ error, caller: verified, info }: PassportResult, context: ExecutionContext): void {
    if (error) throw error as Error;
    if (!verified) {
      this.challenge(context, typeof info === 'string' ? info : `Bearer realm="${this.auth.realm}"`);
      throw new DomainError('UNAUTHORIZED');
    }
    // Before the checks below, so that the log also names a caller that they refuse.
    const caller = storeCaller(context, verified);
    if (!isMessage(context)) {
      context.switchToHttp().getRequest<Request>().user = caller;
      if (caller.projects !== undefined) this.storeChallenge(context);
    }
    this.requireScopes(caller, context);
    this.auth.admit?.(caller, context);
  }

  private requireScopes(caller: Caller, context: ExecutionContext): void {
    const scopes = missingScopes(this.reflector, caller, context);
    if (scopes === undefined) return;
    this.challenge(
      context,
      `Bearer realm="${this.auth.realm}", error="insufficient_scope", scope="${scopes}"`,
    );
    throw new DomainError('FORBIDDEN', `the token lacks the scope ${scopes}`);
  }

  /** Stores the challenge for the error filter, since only a use case can refuse a project. */
  private storeChallenge(context: ExecutionContext): void {
    const { locals } = context.switchToHttp().getResponse<Response>();
    locals.challenge = `Bearer realm="${this.auth.realm}", error="insufficient_scope"`;
  }

  /** Sets the challenge of a response. The reply to a message has no header for it. */
  private challenge(context: ExecutionContext, challenge: string): void {
    if (isMessage(context)) return;
    context.switchToHttp().getResponse<Response>().setHeader('WWW-Authenticate', challenge);
  }
}

function isMessage(context: ExecutionContext): boolean {
  return context.getType() === 'rpc';
}

/** Returns the request or the message data. Throws UNAUTHORIZED if the data is not an object. */
function requestOrDataOf(context: ExecutionContext): object {
  const input = context.getArgByIndex<unknown>(0);
  if (isJsonObject(input)) return input;
  throw new DomainError('UNAUTHORIZED');
}
