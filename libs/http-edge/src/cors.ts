import type { NextFunction, Request, Response } from 'express';
import { methodsOf, routesOf } from './routes.js';

/** What a page may read of an answer besides its status, its body and the few headers that any page may. */
const EXPOSED = [
  'Link',
  'X-Request-Id',
  'Retry-After',
  'Idempotency-Replayed',
  'WWW-Authenticate',
  'RateLimit',
  'RateLimit-Policy',
  'Allow',
].join(', ');

const PREFLIGHT = {
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, X-Request-Id',
  // Seconds; no browser keeps it for longer than a day, Chromium for no longer than this.
  'Access-Control-Max-Age': '7200',
};

/**
 * The headers of an answer that let pages of these origins read it (Fetch standard, section 3.3). Credentials are not among
 * them: a token comes in a header that the page sets itself, never by itself as a cookie does.
 */
export function corsHeaders(origins: readonly string[], origin: string | undefined): Record<string, string> {
  const readable = { 'Access-Control-Expose-Headers': EXPOSED };
  if (origins.includes('*')) return { 'Access-Control-Allow-Origin': '*', ...readable };
  // Also where the origin is another or none: a cache must not take one answer for the other.
  const varying = { Vary: 'Origin' };
  if (origin === undefined || !origins.includes(origin)) return varying;
  return { 'Access-Control-Allow-Origin': origin, ...readable, ...varying };
}

/** Answers what a browser asks, without a token, before it sends a request of a page that an allowed origin has. */
export function answerPreflight(request: Request, response: Response, next: NextFunction): void {
  const { origin, 'access-control-request-method': method } = request.headers;
  const isAllowed = response.hasHeader('Access-Control-Allow-Origin');
  if (request.method !== 'OPTIONS' || origin === undefined || method === undefined || !isAllowed) {
    next();
    return;
  }
  // The same for every path, so that who has no token does not learn here which paths there are.
  const methods = methodsOf(routesOf(request.app)).join(', ');
  response.writeHead(204, { 'Access-Control-Allow-Methods': methods, ...PREFLIGHT }).end();
}
