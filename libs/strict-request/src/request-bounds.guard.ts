import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { stateOf } from './request-state.js';

/** The limits of one request. */
export interface RequestBounds {
  /** The maximum size of its body as received, in bytes. */
  readonly bodyLimit: number;
  /** The time that it may wait in all, in milliseconds. */
  readonly deadline: number;
}

/** Sets the limits of a request or message that have not been set before. Call it before the first wait. */
export function limitRequest(request: object, { bodyLimit, deadline }: RequestBounds): void {
  const state = stateOf(request);
  state.bodyLimit ??= bodyLimit;
  state.timeLeft ??= deadline;
}

/** The limits that a module provides for its controllers. */
export const REQUEST_BOUNDS = Symbol.for('time-logs.REQUEST_BOUNDS');

/** Lets every request pass. Sets the module's limits if the app has set none: an app may run without our edge. */
@Injectable()
export class RequestBoundsGuard implements CanActivate {
  constructor(@Inject(REQUEST_BOUNDS) private readonly bounds: RequestBounds) {}

  canActivate(context: ExecutionContext): boolean {
    limitRequest(context.switchToHttp().getRequest<object>(), this.bounds);
    return true;
  }
}
