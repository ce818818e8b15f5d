import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What a caller may send as X-Request-Id: short, and harmless in a log and a header. */
const WELL_FORMED = /^[A-Za-z0-9._~:+/=@-]{1,128}$/;

/** The id that a request has been given, else the caller's if it is well-formed, else a new one. */
export function requestIdOf(request: IdentifiedMessage | undefined): string {
  if (typeof request?.id === 'string') return request.id;
  const header = request?.headers['x-request-id'];
  return typeof header === 'string' && WELL_FORMED.test(header) ? header : randomUUID();
}

type IdentifiedMessage = Pick<IncomingMessage, 'headers'> & { readonly id?: unknown };

/** The headers that every answer carries. */
export function commonHeaders(requestId: string): Record<string, string> {
  return { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', 'X-Request-Id': requestId };
}
