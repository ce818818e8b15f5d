import { type CanActivate, type ExecutionContext, Inject, Injectable, Optional } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { isObservable, lastValueFrom } from 'rxjs';
import { DomainError } from '../../errors/src/index.js';
import { AUTH_OPTIONS, type BearerAuthOptions } from './bearer-auth.module-definition.js';
import { BearerAuthGuard } from './bearer-auth.guard.js';
import { BEARER_STRATEGY, type BearerStrategy } from './bearer.strategy.js';
import { type CallerOf, keepCaller } from './caller.js';
import { missingScope } from './scopes.decorator.js';

/** How a host decides who may pass, in the place of bearer tokens. */
export interface HostAccess {
  /** Asked first. Its verdict on a request may leave anything there, such as a `user`: nothing here touches that. */
  readonly guard?: CanActivate | undefined;
  /** The caller whom it has let pass. Without it scopes are not checked, and the caller has no id. */
  readonly caller?: CallerOf | undefined;
}

/** The guard of a host, as its module provides it for the HostAccess. */
export const HOST_GUARD = Symbol.for('time-logs.HOST_GUARD');
/** The HostAccess that a module provides for its controllers and exports for others; undefined: bearer tokens. */
export const HOST_ACCESS = Symbol.for('time-logs.HOST_ACCESS');

/**
 * Lets requests and messages pass as the host decides; without a HostAccess as BearerAuthGuard does, which needs
 * BearerAuthModule. It keeps the caller (`callerOf`). Throws DomainError UNAUTHORIZED or FORBIDDEN.
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
        'nobody decides who may call: import BearerAuthModule.forRoot({ verifier, realm }), bind a guard or a caller of your own, or import the very object that has them',
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
    const { guard, caller: callerOf } = this.access;
    const verdict = guard?.canActivate(context) ?? true;
    if (!(await (isObservable(verdict) ? lastValueFrom(verdict) : verdict))) {
      // What Nest throws then for a message tells nobody that it is a refusal.
      if (context.getType() === 'rpc') throw new DomainError('FORBIDDEN');
      return false;
    }
    if (callerOf === undefined) return true;
    const caller = await callerOf(context);
    if (caller === undefined) throw new DomainError('UNAUTHORIZED');
    const scope = missingScope(this.reflector, caller, context);
    if (scope !== undefined) throw new DomainError('FORBIDDEN', `the token lacks the scope ${scope}`);
    keepCaller(context, caller);
    return true;
  }
}
