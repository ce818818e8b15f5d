import type { NextFunction, Request, Response } from 'express';
import { DomainError } from '../../errors/src/index.js';
import { applyRules } from '../../strict-request/src/index.js';
import { requestIdOf } from './common-headers.js';
import type { HttpEdgeOptions, IdentifiedRequest, RequestLimits } from './http-edge.options.js';

interface FirstMiddlewareOptions {
  /** The headers that every answer carries. */
  readonly headers: (request: Request) => Record<string, string>;
  readonly limits: Pick<RequestLimits, 'bodyLimit' | 'deadline'>;
  /** Whether to close the connection after this answer. */
  readonly endsConnection: (request: Request) => boolean;
  readonly onClose: NonNullable<HttpEdgeOptions['onClose']>;
}

/** Runs before everything else: request id, limits, common headers, and the rules that HTTP has for requests. */
export function firstMiddleware({
  headers: headersOf,
  limits,
  endsConnection,
  onClose,
}: FirstMiddlewareOptions) {
  return (request: Request, response: Response, next: NextFunction): void => {
    (request as IdentifiedRequest).id = requestIdOf(request);
    applyRules(request, limits);
    const begun = performance.now();
    response.once('close', () => onClose(request as IdentifiedRequest, response, performance.now() - begun));
    const headers = headersOf(request);
    for (const name in headers) response.setHeader(name, headers[name]!);
    const isMalformed = hasMalformedName(request);
    if (isMalformed || endsConnection(request)) response.setHeader('Connection', 'close');
    const refusal = isMalformed ? new DomainError('VALIDATION_ERROR') : refusalOf(request);
    if (refusal) {
      next(refusal);
      return;
    }
    // Else Express could answer 304, without the body that every answer must have.
    if (request.headers['if-none-match'] !== undefined) delete request.headers['if-none-match'];
    next();
  };
}

/** The rule of HTTP that a request breaks, or undefined. */
function refusalOf(request: Request): DomainError | undefined {
  const { expect } = request.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    return new DomainError('EXPECTATION_FAILED');
  if (!hasOneHost(request)) return new DomainError('VALIDATION_ERROR', 'exactly one Host header is required');
  return undefined;
}

/**
 * A header without a name, or with a space in it (RFC 9112, section 5.1). The parser of Node 20.19.0 lets both pass.
 */
function hasMalformedName({ headersDistinct }: Request): boolean {
  for (const name in headersDistinct) if (name === '' || name.includes(' ')) return true;
  return false;
}

/** RFC 9112, section 3.2. */
function hasOneHost({ headersDistinct, httpVersion }: Request): boolean {
  const count = headersDistinct.host?.length ?? 0;
  return count === 1 || (count === 0 && httpVersion === '1.0');
}
