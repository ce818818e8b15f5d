import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { DomainError } from '../../errors/src/index.js';
import { applyRules, parseRequestId } from '../../strict-request/src/index.js';
import type { ConnectionDrain } from './connection-drain.js';
import type { Cors } from './cors.js';
import type { HttpEdgeOptions, IdentifiedRequest, RequestLimits } from './http-edge.options.js';
import type { PipelineQueue } from './pipeline-queue.js';

interface FirstMiddlewareOptions {
  readonly cors: Cors | undefined;
  readonly limits: Pick<RequestLimits, 'bodyLimit' | 'deadline'>;
  readonly queue: PipelineQueue;
  readonly connections: ConnectionDrain;
  readonly onClose: readonly NonNullable<HttpEdgeOptions['onClose']>[];
}

/** Returns the first middleware: request id, limits, common headers, and the rules of HTTP. */
export function firstMiddleware({ cors, limits, queue, connections, onClose }: FirstMiddlewareOptions) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const identified = request as IdentifiedRequest;
    identified.id = requestIdOf(request);
    applyRules(request, limits);
    const start = performance.now();
    response.once('close', () => {
      const milliseconds = performance.now() - start;
      for (const notify of onClose) notify(identified, response, milliseconds);
    });
    const headers = commonHeaders(identified, cors);
    for (const name in headers) response.setHeader(name, headers[name]!);
    const isMalformed = hasMalformedName(request);
    // Only the last response closes a connection, so that waiting requests are served too.
    const isLast = connections.isDraining && queue.requestsOf(request.socket).pending.length === 1;
    if (isMalformed || isLast) response.setHeader('Connection', 'close');
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

/** Returns the headers of every response. */
export function commonHeaders(
  request: (Pick<IncomingMessage, 'headers'> & { readonly id?: string }) | undefined,
  cors: Cors | undefined,
): Record<string, string> {
  const headers = {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': request?.id ?? requestIdOf(request),
  };
  return cors ? { ...headers, ...cors.headersFor(request?.headers.origin) } : headers;
}

/** Returns the id that a client gives its request if that is well-formed, else a new one. */
function requestIdOf(request: Pick<IncomingMessage, 'headers'> | undefined): string {
  return parseRequestId(request?.headers['x-request-id']) ?? randomUUID();
}

/** Returns the error for a request that violates a rule of HTTP, or undefined. */
function refusalOf({ headers, headersDistinct, httpVersion }: Request): DomainError | undefined {
  const expect = headers.expect?.toLowerCase() ?? '100-continue';
  if (expect !== '100-continue') return new DomainError('EXPECTATION_FAILED');
  const hosts = headersDistinct.host?.length ?? 0;
  // RFC 9112, section 3.2.
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return undefined;
  return new DomainError('VALIDATION_ERROR', 'exactly one Host header is required');
}

/** Returns whether the name of a header is empty or has a space (RFC 9112, section 5.1). */
function hasMalformedName({ headersDistinct }: Request): boolean {
  // The parser of Node 20.19.0 accepts both.
  for (const name in headersDistinct) if (name === '' || name.includes(' ')) return true;
  return false;
}
