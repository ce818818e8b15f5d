import { type ExecutionContext, type CanActivate, Inject, Injectable, Optional } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { isObservable, lastValueFrom } from 'rxjs';
import { DomainError } from '../../errors/src/index.js';
import {
  applyRules,
  REQUEST_RULES,
  type RequestRules,
  stateOf,
  withinDeadline,
} from '../../request-state/src/index.js';
import { BEARER_STRATEGY, type BearerStrategy, Credentials, type Decision } from './bearer.strategy.js';
import { validBounds } from './bounds.js';
import type { Caller, CallerResolver } from './caller.js';

/*
 * The metadata of routes, which the guard reads. All builds in a process share the keys: otherwise the guard of one
 * build would miss the scopes of another and let every caller pass.
 */

/** The metadata of public routes, which the guard and the edge read. */
export const IS_PUBLIC = Reflector.createDecorator({ key: 'time-logs.open', transform: () => true });
const RequiredScopes = Reflector.createDecorator<readonly string[]>({ key: 'time-logs.scopes' });
/** Exempts a route or a controller, such as a health check, from the rate limit. */
export const Unlimited = Reflector.createDecorator({ key: 'time-logs.unlimited', transform: () => true });

/** Makes a route public: it needs no token, and neither does the list of methods of its path. */
export function PublicRoute(): MethodDecorator {
  return IS_PUBLIC();
}

/** Sets the scopes that a route or a controller requires. Without it any valid token is enough. */
export function Scopes(scopes: readonly string[]): ClassDecorator & MethodDecorator {
  return RequiredScopes(scopes);
}

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
 * (RFC 6750, section 3), or throws the error of `admit` of BearerAuthModule. First it applies the rules of the module
 * to a request, if it has some.
 *
 * The token of a message (Nest's `rpc` context) is the member `accessToken` of its data, because
 * some transports have no headers.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    protected readonly reflector: Reflector,
    @Optional() @Inject(HOST_ACCESS) private readonly access?: HostAccess,
    @Optional() @Inject(BEARER_STRATEGY) private readonly strategy?: BearerStrategy,
    @Optional() @Inject(REQUEST_RULES) private readonly rules?: RequestRules,
  ) {
    if (access === undefined && strategy === undefined)
      throw new Error(
        'no access control is configured: import BearerAuthModule.forRoot({ verifier, realm }), set a guard or a caller of your own, or import the same module object that has them',
      );
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const input = context.getArgByIndex<Request & { readonly accessToken?: unknown }>(0);
    const isMessage = context.getType() === 'rpc';
    if (this.rules && !isMessage) applyRules(input, this.rules);
    if (this.access !== undefined) return this.decideByHost(this.access, context);
    if (this.reflector.get(IS_PUBLIC, context.getHandler())) return true;
    const decision = this.strategy!.decide(
      isMessage ? Credentials.ofMessage(input) : Credentials.ofRequest(input),
    );
    if ('caller' in decision) return this.decideByToken(decision, context);
    return withinDeadline(input, decision).then((decided) => this.decideByToken(decided, context));
  }

  private decideByToken({ error, caller: decided, info }: Decision, context: ExecutionContext): true {
    if (error) throw error as Error;
    // Undefined for a message, whose reply has no header for a challenge.
    const response = context.getType() === 'rpc' ? undefined : context.getArgByIndex<Response>(1);
    if (!decided) {
      response?.setHeader('WWW-Authenticate', typeof info === 'string' ? info : this.challenge);
      throw new DomainError('UNAUTHORIZED');
    }
    const request = context.getArgByIndex<Request>(0);
    // Before the checks below, so that the log also names a caller that they refuse.
    const caller = storeCaller(request, decided);
    if (response) request.user = caller;
    const insufficient = () => `${this.challenge}, error="insufficient_scope"`;
    // For the error filter, since only a use case can refuse a project or an attribute.
    if (isBound(caller)) stateOf(request).challenge = insufficient();
    const missing = this.missingScopes(caller, context);
    if (missing !== undefined) {
      response?.setHeader('WWW-Authenticate', `${insufficient()}, scope="${missing}"`);
      throw insufficientScope(missing);
    }
    this.strategy!.options.admit?.(caller, context);
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
    // Only the host knows its scheme.
    if (!caller) throw new DomainError('UNAUTHORIZED', 'valid credentials are required');
    const missing = this.missingScopes(storeCaller(context.getArgByIndex<object>(0), caller), context);
    if (missing !== undefined) throw insufficientScope(missing);
    return true;
  }

  private get challenge(): string {
    return `Bearer realm="${this.strategy!.options.realm}"`;
  }

  /** Returns the scopes of the route if the caller lacks one of them. */
  private missingScopes({ scopes }: Caller, context: ExecutionContext): string | undefined {
    const targets = [context.getHandler(), context.getClass()];
    const { KEY } = RequiredScopes;
    const required = this.reflector.getAllAndOverride<readonly string[] | undefined>(KEY, targets) ?? [];
    return required.every((scope) => scopes.includes(scope)) ? undefined : required.join(' ');
  }
}

function insufficientScope(scopes: string): DomainError {
  return new DomainError('FORBIDDEN', `the token lacks the scope ${scopes}`);
}

/** Returns whether a caller is bound to projects or attributes. */
export function isBound({ projects, attributes }: Partial<Caller>): boolean {
  return projects !== undefined || attributes !== undefined;
}

/**
 * Stores the caller with a request, or with the data of a message. Returns the stored caller, whose projects are
 * distinct and in lower case. One with invalid bounds is bound to no project.
 */
function storeCaller(requestOrData: object, caller: Caller): Caller {
  // A string also includes its parts, and a Promise has no scopes: both would let requests pass by mistake.
  if (!Array.isArray(caller.scopes)) throw new Error('the scopes of a caller are not an array');
  // The spread omits properties that a host's caller inherits from its class.
  const { id, scopes } = caller;
  const stored = isBound(caller) ? { ...caller, id, scopes, ...validBounds(caller) } : caller;
  stateOf(requestOrData).caller = stored;
  return stored;
}
