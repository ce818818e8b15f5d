import type { NextFunction, Request, Response } from 'express';
import { DomainError } from '../../errors/src/index.js';
import { headerValues, stateOf } from '../../request-state/src/index.js';
import { requestIdOf } from './edge.adapter.js';
import type { EdgeServer } from './edge.server.js';
import type { IdentifiedRequest, RequestObserver } from './http-edge.options.js';

/** Returns the first middleware: request id, deadline, and the rules of HTTP. */
export function firstMiddleware(server: EdgeServer, deadline: number, observers: readonly RequestObserver[]) {
  /** One function for all responses, instead of a closure for each. */
  function whenClosed(this: Response): void {
    const request = this.req as IdentifiedRequest;
    const milliseconds = performance.now() - stateOf(request).startedAt;
    for (const observer of observers) observer.onResponse(request, this, milliseconds);
  }
  return (request: Request, response: Response, next: NextFunction): void => {
    const identified = request as IdentifiedRequest;
    identified.id = requestIdOf(request);
    stateOf(request).remainingWaitMs = deadline;
    server.track(response);
    response.on('close', whenClosed);
    if (server.isDraining) response.setHeader('Connection', 'close');
    // Otherwise Express could answer 304 without a body. For other methods it is a condition of the change.
    if (isConditionalRead(request)) delete request.headers['if-none-match'];
    next(refusalOf(request));
  };
}

function isConditionalRead({ method, headers }: Request): boolean {
  return headers['if-none-match'] !== undefined && (method === 'GET' || method === 'HEAD');
}

/** Returns the error for a request that violates a rule of HTTP, or undefined. */
function refusalOf(request: Request): DomainError | undefined {
  const expect = request.headers.expect?.toLowerCase() ?? '100-continue';
  if (expect !== '100-continue') return new DomainError('EXPECTATION_FAILED');
  const hosts = headerValues(request, 'host').length;
  // RFC 9112, section 3.2.
  if (hosts === 1 || (hosts === 0 && request.httpVersion === '1.0')) return undefined;
  return new DomainError('VALIDATION_ERROR', 'exactly one Host header is required');
}
