import { randomUUID } from 'node:crypto';

/** What a caller may send as X-Request-Id: short, and harmless in a log and a header. */
const WELL_FORMED = /^[A-Za-z0-9._~:+/=@-]{1,128}$/;

/** The caller's request id if it is well-formed, else a new one. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && WELL_FORMED.test(header) ? header : randomUUID();
}

/** The headers that every answer carries. */
export function commonHeaders(requestId: string): Record<string, string> {
  return { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', 'X-Request-Id': requestId };
}
