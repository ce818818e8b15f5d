import type { NextFunction, Request, Response } from 'express';
import { methodsOf, routesOf } from './routes.js';

/** The headers that a page may read, beside the few that any page may. */
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
  // Seconds. No browser keeps it longer than a day, and Chromium no longer than this.
  'Access-Control-Max-Age': '7200',
};

/**
 * The headers that let pages of these origins read an answer (Fetch standard, section 3.3). Credentials are not
 * allowed: the page itself sets the header with the token; browsers never add it, as they add cookies.
 */
export function corsHeaders(origins: readonly string[], origin: string | undefined): Record<string, string> {
  const readable = { 'Access-Control-Expose-Headers': EXPOSED };
  if (origins.includes('*')) return { 'Access-Control-Allow-Origin': '*', ...readable };
  // Also for other origins or none: a cache must not mix up their answers.
  const varying = { Vary: 'Origin' };
  if (origin === undefined || !origins.includes(origin)) return varying;
  return { 'Access-Control-Allow-Origin': origin, ...readable, ...varying };
}

/** Answers the preflight request, without a token, that a browser sends before a request of an allowed origin. */
export function answerPreflight(request: Request, response: Response, next: NextFunction): void {
  const { origin, 'access-control-request-method': method } = request.headers;
  const isAllowed = response.hasHeader('Access-Control-Allow-Origin');
  if (request.method !== 'OPTIONS' || origin === undefined || method === undefined || !isAllowed) {
    next();
    return;
  }
  // The same answer for every path: a caller without a token must not learn which paths exist.
  const methods = methodsOf(routesOf(request.app)).join(', ');
  response.writeHead(204, { 'Access-Control-Allow-Methods': methods, ...PREFLIGHT }).end();
}
