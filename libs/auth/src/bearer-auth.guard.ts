import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { isJsonObject, withinDeadline } from '../../strict-request/src/index.js';
import { DomainError } from '../../errors/src/index.js';
import { AUTH_OPTIONS, type BearerAuthOptions } from './bearer-auth.module-definition.js';
import { BEARER_STRATEGY, type BearerStrategy } from './bearer.strategy.js';
import { IS_PUBLIC } from './public-route.decorator.js';
import { keepCaller } from './caller.js';
import { Credentials, PassportCall, type Verdict } from './passport-call.js';
import { missingScope } from './scopes.decorator.js';
import type { Caller } from './caller.js';

/**
 * Lets a request pass if its bearer token is valid and has the scopes of the route, and puts its Caller into
 * `request.user`. On an `Open` route it lets every request pass. Throws DomainError UNAUTHORIZED or FORBIDDEN and sets
 * the challenge (RFC 6750, section 3), or throws what the app's `admit` throws.
 *
 * The token of a message (Nest's `rpc` context) is the member `accessToken` of its data: not all transports carry
 * headers. Its caller is found by `callerOf(data)`.
 */
@Injectable()
export class BearerAuthGuard implements CanActivate {
  private readonly passport: PassportCall;

  constructor(
    @Inject(BEARER_STRATEGY) strategy: BearerStrategy,
    @Inject(AUTH_OPTIONS) private readonly auth: BearerAuthOptions,
    protected readonly reflector: Reflector,
  ) {
    this.passport = new PassportCall(strategy.name);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.get(IS_PUBLIC, context.getHandler())) return true;
    const called = calledOf(context);
    const credentials = isMessage(context)
      ? Credentials.ofMessage(called)
      : Credentials.ofRequest(called as Request);
    this.judge(await withinDeadline(called, this.passport.verdictOn(credentials)), context);
    return true;
  }

  private judge({ error, caller: verified, info }: Verdict, context: ExecutionContext): void {
    if (error) throw error as Error;
    if (!verified) {
      this.challenge(context, typeof info === 'string' ? info : `Bearer realm="${this.auth.realm}"`);
      throw new DomainError('UNAUTHORIZED');
    }
    // Before the refusals below, so that their lines in the log name the caller too.
    const caller = keepCaller(context, verified);
    if (!isMessage(context)) {
      context.switchToHttp().getRequest<Request>().user = caller;
      if (caller.projects !== undefined) this.keepChallenge(context);
    }
    this.requireScopes(caller, context);
    this.auth.admit?.(caller, context);
  }

  private requireScopes(caller: Caller, context: ExecutionContext): void {
    const scope = missingScope(this.reflector, caller, context);
    if (scope === undefined) return;
    this.challenge(
      context,
      `Bearer realm="${this.auth.realm}", error="insufficient_scope", scope="${scope}"`,
    );
    throw new DomainError('FORBIDDEN', `the token lacks the scope ${scope}`);
  }

  /** Only the use cases know whether a caller is bound to other projects; the filter of errors sets this then. */
  private keepChallenge(context: ExecutionContext): void {
    const { locals } = context.switchToHttp().getResponse<Response>();
    locals.challenge = `Bearer realm="${this.auth.realm}", error="insufficient_scope"`;
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
  if (isJsonObject(called)) return called;
  throw new DomainError('UNAUTHORIZED');
}
