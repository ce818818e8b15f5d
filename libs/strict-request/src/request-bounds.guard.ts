import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { limitWaiting } from './deadline.js';
import { limitBody } from './json-body.js';

/** The limits of one request. */
export interface RequestBounds {
  /** Bytes of its body, as received. */
  readonly bodyLimit: number;
  /** Milliseconds that it may wait in all. */
  readonly deadline: number;
}

/** The limits that a module provides for its controllers. */
export const REQUEST_BOUNDS = Symbol.for('time-logs.REQUEST_BOUNDS');

/** Lets every request pass. Sets the module's limits where the app has set none: an app may run without our edge. */
@Injectable()
export class RequestBoundsGuard implements CanActivate {
  constructor(@Inject(REQUEST_BOUNDS) private readonly bounds: RequestBounds) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<object>();
    limitBody(request, this.bounds.bodyLimit);
    limitWaiting(request, this.bounds.deadline);
    return true;
  }
}
