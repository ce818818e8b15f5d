import type { NextFunction, Request, Response } from 'express';
import { methodsOf, routesOf } from './routes.js';

/** The names of headers that pages need, beside those that any page may use. */
export interface CorsHeaders {
  /** Of requests: pages may send them. */
  readonly accepted: readonly string[];
  /** Of answers: pages may read them. */
  readonly exposed: readonly string[];
}

/** Which pages may call the app from a browser. */
export interface CorsOptions {
  /** The origins of the pages, as browsers send them; `*` for all. */
  readonly origins: readonly string[];
  /** The headers of the app's routes. */
  readonly headers: CorsHeaders;
}

/** The headers of the edge itself. */
const OURS: CorsHeaders = {
  accepted: ['Content-Type', 'X-Request-Id'],
  exposed: ['X-Request-Id', 'Retry-After', 'Allow'],
};

/** Lets pages of some origins call the app (Fetch standard, section 3.3). */
export class Cors {
  private readonly origins: readonly string[];
  private readonly readable: Record<string, string>;
  private readonly preflight: Record<string, string>;

  constructor({ origins, headers: { accepted, exposed } }: CorsOptions) {
    this.origins = origins;
    this.readable = { 'Access-Control-Expose-Headers': [...OURS.exposed, ...exposed].sort().join(', ') };
    this.preflight = {
      'Access-Control-Allow-Headers': [...OURS.accepted, ...accepted].sort().join(', '),
      // Seconds. No browser keeps it longer than a day, and Chromium no longer than this.
      'Access-Control-Max-Age': '7200',
    };
  }

  /**
   * The headers that let pages of an origin read an answer. Credentials are not allowed: the page itself sets the
   * header with the token; browsers never add it, as they add cookies.
   */
  headersFor(origin: string | undefined): Record<string, string> {
    if (this.origins.includes('*')) return { 'Access-Control-Allow-Origin': '*', ...this.readable };
    // Also for other origins or none: a cache must not mix up their answers.
    const varying = { Vary: 'Origin' };
    if (origin === undefined || !this.origins.includes(origin)) return varying;
    return { 'Access-Control-Allow-Origin': origin, ...this.readable, ...varying };
  }

  /** Answers the preflight request, without a token, that a browser sends before a request of an allowed origin. */
  answerPreflight(request: Request, response: Response, next: NextFunction): void {
    const { origin, 'access-control-request-method': method } = request.headers;
    const isAllowed = response.hasHeader('Access-Control-Allow-Origin');
    if (request.method !== 'OPTIONS' || origin === undefined || method === undefined || !isAllowed) {
      next();
      return;
    }
    // The same answer for every path: a caller without a token must not learn which paths exist.
    const methods = methodsOf(routesOf(request.app)).join(', ');
    response.writeHead(204, { 'Access-Control-Allow-Methods': methods, ...this.preflight }).end();
  }
}
