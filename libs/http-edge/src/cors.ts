import type { NextFunction, Request, Response } from 'express';
import { methodsOf, routesOf } from './routes.js';

/** The names of headers that pages may use in addition to the headers that CORS always allows. */
export interface CorsHeaders {
  /** The request headers that pages may send. */
  readonly accepted: readonly string[];
  /** The response headers that pages may read. */
  readonly exposed: readonly string[];
}

export interface CorsOptions {
  /** The origins of the pages that may call the app, as browsers send them; `*` for all. */
  readonly origins: readonly string[];
  /** The headers of the app's routes. */
  readonly headers: CorsHeaders;
}

/** The headers of http-edge itself, and those that the tracing of a page adds to its requests. */
const EDGE_HEADERS: CorsHeaders = {
  accepted: ['Content-Type', 'X-Request-Id', 'baggage', 'traceparent', 'tracestate'],
  exposed: ['X-Request-Id', 'Retry-After', 'Allow'],
};

/** Lets pages of some origins call the app (Fetch standard, section 3.3). */
export class Cors {
  private readonly origins: readonly string[];
  private readonly readable: Record<string, string>;
  private readonly preflight: Record<string, string>;

  constructor({ origins, headers: { accepted, exposed } }: CorsOptions) {
    this.origins = origins;
    this.readable = {
      'Access-Control-Expose-Headers': [...EDGE_HEADERS.exposed, ...exposed].sort().join(', '),
    };
    this.preflight = {
      'Access-Control-Allow-Headers': [...EDGE_HEADERS.accepted, ...accepted].sort().join(', '),
      // In seconds. Chromium caches a preflight response no longer than this.
      'Access-Control-Max-Age': '7200',
    };
  }

  /**
   * Returns the headers that let pages of an origin read a response. Credentials are not allowed: a
   * page sets the header with the token itself, and browsers do not add it as they add cookies.
   */
  headersFor(origin: string | undefined): Record<string, string> {
    if (this.origins.includes('*')) return { 'Access-Control-Allow-Origin': '*', ...this.readable };
    // Also without a known origin, so that a cache does not mix up the responses.
    const vary = { Vary: 'Origin' };
    if (origin === undefined || !this.origins.includes(origin)) return vary;
    return { 'Access-Control-Allow-Origin': origin, ...this.readable, ...vary };
  }

  /** Answers a preflight request of an allowed origin. Browsers send it without a token. */
  answerPreflight(request: Request, response: Response, next: NextFunction): void {
    const { origin, 'access-control-request-method': method } = request.headers;
    const isAllowed = response.hasHeader('Access-Control-Allow-Origin');
    if (request.method !== 'OPTIONS' || origin === undefined || method === undefined || !isAllowed) {
      next();
      return;
    }
    // All paths get the same response: a client without a token must not learn which paths exist.
    const methods = methodsOf(routesOf(request.app)).join(', ');
    response.writeHead(204, { 'Access-Control-Allow-Methods': methods, ...this.preflight }).end();
  }
}
