import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { withinDeadline } from '../../strict-request/src/index.js';
import { DomainError } from '../../errors/src/index.js';
import { AUTH_OPTIONS, type BearerAuthOptions } from './bearer-auth.module-definition.js';
import { BEARER_STRATEGY, type BearerStrategy, Credentials } from './bearer.strategy.js';
import { IS_PUBLIC } from './public-route.decorator.js';
import { missingScopes, storeCaller } from './caller.js';

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
  constructor(
    @Inject(BEARER_STRATEGY) private readonly strategy: BearerStrategy,
    @Inject(AUTH_OPTIONS) private readonly auth: BearerAuthOptions,
    protected readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.get(IS_PUBLIC, context.getHandler())) return true;
    // Undefined for a message, whose reply has no header for a challenge.
    const http = context.getType() === 'rpc' ? undefined : context.switchToHttp();
    const input = context.getArgByIndex<object>(0);
    const credentials = http ? Credentials.ofRequest(http.getRequest()) : Credentials.ofMessage(input);
    const decision = await withinDeadline(input, this.strategy.decide(credentials));
    if (decision.error) throw decision.error as Error;
    const challenge = `Bearer realm="${this.auth.realm}"`;
    const response = http?.getResponse<Response>();
    if (!decision.caller) {
      const { info } = decision;
      response?.setHeader('WWW-Authenticate', typeof info === 'string' ? info : challenge);
      throw new DomainError('UNAUTHORIZED');
    }
    // Before the checks below, so that the log also names a caller that they refuse.
    const caller = storeCaller(context, decision.caller);
    const insufficient = `${challenge}, error="insufficient_scope"`;
    if (http) http.getRequest<Request>().user = caller;
    // For the error filter, since only a use case can refuse a project or an attribute.
    if (response && (caller.projects ?? caller.attributes) !== undefined)
      response.locals.challenge = insufficient;
    const scopes = missingScopes(this.reflector, caller, context);
    if (scopes !== undefined) {
      response?.setHeader('WWW-Authenticate', `${insufficient}, scope="${scopes}"`);
      throw new DomainError('FORBIDDEN', `the token lacks the scope ${scopes}`);
    }
    this.auth.admit?.(caller, context);
    return true;
  }
}
