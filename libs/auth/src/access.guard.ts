import { type CanActivate, type ExecutionContext, Inject, Injectable, Optional } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { isObservable, lastValueFrom } from 'rxjs';
import { DomainError } from '../../errors/src/index.js';
import { withinDeadline } from '../../strict-request/src/index.js';
import { BEARER_STRATEGY, type BearerStrategy, Credentials, type Decision } from './bearer.strategy.js';
import { type Caller, type CallerResolver, storeCaller } from './caller.js';
import { IS_PUBLIC, requiredScopes } from './route-access.js';

/** Access control of a host application. It replaces bearer tokens. */
export interface HostAccess {
  /** Runs first. It may set properties of the request, such as `user`. */
  readonly guard?: CanActivate | undefined;
  /** Returns the caller. Without it scopes are not checked, and no caller has an id. */
  readonly caller?: CallerResolver | undefined;
}

/** The injection token of the host's guard. A module provides it to build its HostAccess. */
export const HOST_GUARD = Symbol.for('time-logs.HOST_GUARD');
/** The injection token of a module's HostAccess; undefined stands for bearer tokens. */
export const HOST_ACCESS = Symbol.for('time-logs.HOST_ACCESS');

/**
 * Lets a request or message pass if its bearer token is valid and has the scopes of the route, or as the HostAccess of
 * its module decides. Stores the caller for `callerOf`, and of a bearer token in `request.user`. Every request with a
 * bearer token to a `PublicRoute` passes. Throws DomainError UNAUTHORIZED or FORBIDDEN and sets the challenge
 * (RFC 6750, section 3), or throws the error of `admit` of BearerAuthModule.
 *
 * The token of a message (Nest's `rpc` context) is the member `accessToken` of its data, because
 * some transports have no headers.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly strategy: BearerStrategy | undefined;

  constructor(
    protected readonly reflector: Reflector,
    @Optional() @Inject(HOST_ACCESS) private readonly access?: HostAccess,
    @Optional() @Inject(BEARER_STRATEGY) strategy?: BearerStrategy,
  ) {
    this.strategy = strategy;
    if (access === undefined && strategy === undefined)
      throw new Error(
        'no access control is configured: import BearerAuthModule.forRoot({ verifier, realm }), set a guard or a caller of your own, or import the same module object that has them',
      );
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (this.access !== undefined) return this.decideByHost(this.access, context);
    if (this.reflector.get(IS_PUBLIC, context.getHandler())) return true;
    const input = context.getArgByIndex<Request & { readonly accessToken?: unknown }>(0);
    const isMessage = context.getType() === 'rpc';
    const decision = this.strategy!.decide(
      isMessage ? Credentials.ofMessage(input) : Credentials.ofRequest(input),
    );
    if ('caller' in decision) return this.admit(decision, context);
    return withinDeadline(input, decision).then((decided) => this.admit(decided, context));
  }

  private admit({ error, caller: decided, info }: Decision, context: ExecutionContext): true {
    if (error) throw error as Error;
    const { realm, admit } = this.strategy!.options;
    const challenge = `Bearer realm="${realm}"`;
    // Undefined for a message, whose reply has no header for a challenge.
    const response = context.getType() === 'rpc' ? undefined : context.getArgByIndex<Response>(1);
    if (!decided) {
      response?.setHeader('WWW-Authenticate', typeof info === 'string' ? info : challenge);
      throw new DomainError('UNAUTHORIZED');
    }
    const request = context.getArgByIndex<Request>(0);
    // Before the checks below, so that the log also names a caller that they refuse.
    const caller = storeCaller(request, decided);
    const insufficient = `${challenge}, error="insufficient_scope"`;
    if (response) request.user = caller;
    // For the error filter, since only a use case can refuse a project or an attribute.
    if (response && (caller.projects ?? caller.attributes) !== undefined)
      response.locals.challenge = insufficient;
    this.requireScopes(caller, context, (scopes) =>
      response?.setHeader('WWW-Authenticate', `${insufficient}, scope="${scopes}"`),
    );
    admit?.(caller, context);
    return true;
  }

  private async decideByHost(
    { guard, caller: resolve }: HostAccess,
    context: ExecutionContext,
  ): Promise<boolean> {
    const result = guard?.canActivate(context) ?? true;
    if (!(await (isObservable(result) ? lastValueFrom(result) : result))) {
      // For a message Nest would throw an error that does not look like a refusal.
      if (context.getType() === 'rpc') throw new DomainError('FORBIDDEN');
      return false;
    }
    if (resolve === undefined) return true;
    const caller = await resolve(context);
    if (caller === undefined) throw new DomainError('UNAUTHORIZED');
    this.requireScopes(storeCaller(context.getArgByIndex<object>(0), caller), context);
    return true;
  }

  /** Throws DomainError FORBIDDEN if the caller lacks a scope of the route. */
  private requireScopes(
    caller: Caller,
    context: ExecutionContext,
    challenge?: (scopes: string) => void,
  ): void {
    const required = requiredScopes(this.reflector, context);
    if (required.every((scope) => caller.scopes.includes(scope))) return;
    const scopes = required.join(' ');
    challenge?.(scopes);
    throw new DomainError('FORBIDDEN', `the token lacks the scope ${scopes}`);
  }
}
