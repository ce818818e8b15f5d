import { randomUUID } from 'node:crypto';
import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { DomainError } from '../../errors/src/index.js';
import { headerValues, parseRequestId, stateOf } from '../../request-state/src/index.js';
import { isDecodable } from '../../strict-url/src/index.js';
import { EdgeServer } from './edge.server.js';
import type { IdentifiedRequest, RequestLimits, RequestObserver } from './http-edge.options.js';

/** The time between two checks for requests that are not received in time. */
const CHECK_INTERVAL_MS = 2_000;

/** The origin of an absolute target (RFC 9112, section 3.2.2), and the slashes before the path. */
const BEFORE_PATH = /^(?:https?:\/\/[^/?#]+)?\/+/i;

const PATH = /^\/[^/]/;

/** An Express app with the prototypes of its requests and responses, which its types lack. */
type Application = RequestListener & { request: object; response: object };

/**
 * Nest's adapter for Express that creates requests and responses with the prototypes of the app.
 * Otherwise Express changes the prototype of each object, and V8 then runs all work on it slowly.
 * Express documents these prototypes as its extension points.
 */
export class EdgeAdapter extends ExpressAdapter {
  constructor(private readonly limits: RequestLimits) {
    super();
  }

  override initHttpServer(): void {
    const app = this.getInstance<Application>();
    class AppRequest extends IncomingMessage {}
    class AppResponse<R extends IncomingMessage> extends ServerResponse<R> {
      /** Adds the headers of every response: all at once cost half of a call of `setHeader` for each. */
      override writeHead(status: number, ...rest: unknown[]): this {
        const ownHeaders = typeof rest.at(-1) === 'object' ? rest.pop() : undefined;
        const common = commonHeaders(this.req);
        const names = this.getHeaderNames();
        const headers: Record<string, string> = {};
        for (const name in common) if (!names.includes(name.toLowerCase())) headers[name] = common[name]!;
        return super.writeHead(status, ...(rest as []), Object.assign(headers, ownHeaders));
      }
    }
    Object.setPrototypeOf(AppRequest.prototype, app.request);
    Object.setPrototypeOf(AppResponse.prototype, app.response);
    Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
    const { headersTimeout, requestTimeout, keepAliveTimeout, headersLimit } = this.limits;
    const server = new EdgeServer({
      IncomingMessage: AppRequest,
      ServerResponse: AppResponse,
      headersTimeout,
      requestTimeout,
      keepAliveTimeout,
      maxHeaderSize: headersLimit,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      // The first middleware checks the header instead: Node's response has an empty body.
      requireHostHeader: false,
    });
    this.httpServer = server.on('request', (request, response) => {
      request.url = toRoutable(request.url!);
      app(request, response);
    });
  }
}

/**
 * Returns a target that Express routes. Keeps one leading slash: clients append paths to the
 * address in openapi.json, which ends with a slash. A target without a path, or with a fragment, becomes
 * an unknown path: Express would answer it itself, or drop the query behind the fragment. In a path whose
 * percent-encoding is invalid each `%` stands for itself: Express would refuse it before authentication.
 */
function toRoutable(target: string): string {
  const routable = PATH.test(target) ? target : target.replace(BEFORE_PATH, '/');
  if (!routable.startsWith('/') || routable.includes('#')) return `/${encodeURIComponent(target)}`;
  if (!routable.includes('%')) return routable;
  const [path] = routable.split('?', 1) as [string];
  if (isDecodable(path)) return routable;
  return path.replaceAll('%', '%25') + routable.slice(path.length);
}

/** Returns the headers of every response. */
export function commonHeaders(
  request: (Pick<IncomingMessage, 'headers'> & { readonly id?: string }) | undefined,
): Record<string, string> {
  return {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': request?.id ?? requestIdOf(request),
  };
}

/** Returns the id that a client gives its request if that is well-formed, else a new one. */
function requestIdOf(request: Pick<IncomingMessage, 'headers'> | undefined): string {
  return parseRequestId(request?.headers['x-request-id']) ?? randomUUID();
}

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
