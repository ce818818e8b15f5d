import type { NextFunction, Request, Response } from 'express';
import { DomainError } from '../../errors/src/index.js';
import { applyRules } from '../../strict-request/src/index.js';
import { requestIdOf } from './common-headers.js';
import type { HttpEdgeOptions, IdentifiedRequest, RequestLimits } from './http-edge.options.js';

interface FirstMiddlewareOptions {
  /** Returns the headers of a response. */
  readonly headers: (request: Request) => Record<string, string>;
  readonly limits: Pick<RequestLimits, 'bodyLimit' | 'deadline'>;
  /** Returns whether to close the connection after this response. */
  readonly closesConnection: (request: Request) => boolean;
  readonly onClose: NonNullable<HttpEdgeOptions['onClose']>;
}

/** Returns the first middleware: request id, limits, common headers, and the rules of HTTP. */
export function firstMiddleware({
  headers: headersOf,
  limits,
  closesConnection,
  onClose,
}: FirstMiddlewareOptions) {
  return (request: Request, response: Response, next: NextFunction): void => {
    (request as IdentifiedRequest).id = requestIdOf(request);
    applyRules(request, limits);
    const start = performance.now();
    response.once('close', () => onClose(request as IdentifiedRequest, response, performance.now() - start));
    const headers = headersOf(request);
    for (const name in headers) response.setHeader(name, headers[name]!);
    const isMalformed = hasMalformedName(request);
    if (isMalformed || closesConnection(request)) response.setHeader('Connection', 'close');
    const refusal = isMalformed ? new DomainError('VALIDATION_ERROR') : refusalOf(request);
    if (refusal) {
      next(refusal);
      return;
    }
    // Otherwise Express could answer 304 without a body.
    if (request.headers['if-none-match'] !== undefined) delete request.headers['if-none-match'];
    next();
  };
}

/** Returns the error for a request that violates a rule of HTTP, or undefined. */
function refusalOf(request: Request): DomainError | undefined {
  const { expect } = request.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    return new DomainError('EXPECTATION_FAILED');
  if (!hasOneHost(request)) return new DomainError('VALIDATION_ERROR', 'exactly one Host header is required');
  return undefined;
}

/** Returns whether the name of a header is empty or has a space (RFC 9112, section 5.1). */
function hasMalformedName({ headersDistinct }: Request): boolean {
  // The parser of Node 20.19.0 accepts both.
  for (const name in headersDistinct) if (name === '' || name.includes(' ')) return true;
  return false;
}

/** Returns whether a request has the Host header that HTTP requires (RFC 9112, section 3.2). */
function hasOneHost({ headersDistinct, httpVersion }: Request): boolean {
  const count = headersDistinct.host?.length ?? 0;
  return count === 1 || (count === 0 && httpVersion === '1.0');
}
