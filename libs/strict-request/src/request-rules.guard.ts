import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { type FurtherMember, stateOf } from './request-state.js';

/** The rules that hold for one request. */
export interface RequestRules {
  /** The maximum size of its body as received, in bytes. */
  readonly bodyLimit: number;
  /** The time that it may wait in all, in milliseconds. */
  readonly deadline: number;
  /** The member that its body, or the part of a message, has in addition to the DTO. */
  readonly member?: FurtherMember | undefined;
}

/** The rules that a module provides for its controllers. */
export const REQUEST_RULES = Symbol.for('time-logs.REQUEST_RULES');

/** Applies rules to a request or message. Limits that have been set before stay. Call it before the first wait. */
export function applyRules(request: object, { bodyLimit, deadline, member }: RequestRules): void {
  const state = stateOf(request);
  state.bodyLimit ??= bodyLimit;
  state.timeLeft ??= deadline;
  state.member = member;
}

/** Lets every request pass. Applies the rules of the module: an app may run without our edge. */
@Injectable()
export class RequestRulesGuard implements CanActivate {
  constructor(@Inject(REQUEST_RULES) private readonly rules: RequestRules) {}

  canActivate(context: ExecutionContext): boolean {
    applyRules(context.switchToHttp().getRequest<object>(), this.rules);
    return true;
  }
}
