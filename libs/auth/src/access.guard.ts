import { type CanActivate, type ExecutionContext, Inject, Injectable, Optional } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { isObservable, lastValueFrom } from 'rxjs';
import { DomainError } from '../../errors/src/index.js';
import { AUTH_OPTIONS, type BearerAuthOptions } from './bearer-auth.module-definition.js';
import { BearerAuthGuard } from './bearer-auth.guard.js';
import { BEARER_STRATEGY, type BearerStrategy } from './bearer.strategy.js';
import { type CallerResolver, missingScopes, storeCaller } from './caller.js';

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
 * Lets requests and messages pass as the host decides, or without a HostAccess as BearerAuthGuard
 * does. It stores the caller for `callerOf`. Throws DomainError UNAUTHORIZED or FORBIDDEN.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly guard: CanActivate;

  constructor(
    reflector: Reflector,
    @Optional() @Inject(HOST_ACCESS) access?: HostAccess,
    @Optional() @Inject(BEARER_STRATEGY) strategy?: BearerStrategy,
    @Optional() @Inject(AUTH_OPTIONS) auth?: BearerAuthOptions,
  ) {
    if (access !== undefined) {
      this.guard = new HostGuard(access, reflector);
    } else if (strategy !== undefined && auth !== undefined) {
      this.guard = new BearerAuthGuard(strategy, auth, reflector);
    } else {
      throw new Error(
        'no access control is configured: import BearerAuthModule.forRoot({ verifier, realm }), set a guard or a caller of your own, or import the same module object that has them',
      );
    }
  }

  canActivate(context: ExecutionContext): ReturnType<CanActivate['canActivate']> {
    return this.guard.canActivate(context);
  }
}

class HostGuard implements CanActivate {
  constructor(
    private readonly access: HostAccess,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { guard, caller: resolveCaller } = this.access;
    const result = guard?.canActivate(context) ?? true;
    if (!(await (isObservable(result) ? lastValueFrom(result) : result))) {
      // For a message Nest would throw an error that does not look like a refusal.
      if (context.getType() === 'rpc') throw new DomainError('FORBIDDEN');
      return false;
    }
    if (resolveCaller === undefined) return true;
    const caller = await resolveCaller(context);
    if (caller === undefined) throw new DomainError('UNAUTHORIZED');
    // Before the scopes are compared, since a text as scopes would pass by its parts.
    storeCaller(context, caller);
    const scopes = missingScopes(this.reflector, caller, context);
    if (scopes !== undefined) throw new DomainError('FORBIDDEN', `the token lacks the scope ${scopes}`);
    return true;
  }
}
