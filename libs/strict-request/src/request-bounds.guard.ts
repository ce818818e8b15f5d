import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { limitWaiting } from './deadline.js';
import { limitBody } from './json-body.js';

/** What one request may take. */
export interface RequestBounds {
  /** Bytes of its body, as received. */
  readonly bodyLimit: number;
  /** Milliseconds that it waits in all. */
  readonly deadline: number;
}

/** The bounds that the module of a controller provides for it. */
export const REQUEST_BOUNDS = Symbol('REQUEST_BOUNDS');

/** Lets every request pass, within the module's own bounds where the app has set none, as an app without our edge. */
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
