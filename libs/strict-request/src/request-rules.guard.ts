import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { type ExtraField, stateOf } from './request-state.js';

/** The rules for a request. */
export interface RequestRules {
  /** The maximum size of the received body in bytes. */
  readonly bodyLimit: number;
  /** The maximum total time that the request waits, in milliseconds. */
  readonly deadline: number;
  /** The extra field of the body, or of the part of a message. */
  readonly extraField?: ExtraField | undefined;
}

/** The injection token of the rules that a module provides for its controllers. */
export const REQUEST_RULES = Symbol.for('time-logs.REQUEST_RULES');

/** Applies rules to a request or message before its first wait. It keeps limits that are set. */
export function applyRules(request: object, { bodyLimit, deadline, extraField }: RequestRules): void {
  const state = stateOf(request);
  state.bodyLimit ??= bodyLimit;
  state.remainingWaitMs ??= deadline;
  state.extraField = extraField;
}

/** Applies the rules of the module, since an app may run without http-edge. Refuses no request. */
@Injectable()
export class RequestRulesGuard implements CanActivate {
  constructor(@Inject(REQUEST_RULES) private readonly rules: RequestRules) {}

  canActivate(context: ExecutionContext): boolean {
    applyRules(context.switchToHttp().getRequest<object>(), this.rules);
    return true;
  }
}
