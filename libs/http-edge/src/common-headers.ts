import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { parseRequestId } from '../../strict-request/src/index.js';

/** The id that a request has been given, else the caller's if it is well-formed, else a new one. */
export function requestIdOf(request: IdentifiedMessage | undefined): string {
  if (typeof request?.id === 'string') return request.id;
  return parseRequestId(request?.headers['x-request-id']) ?? randomUUID();
}

type IdentifiedMessage = Pick<IncomingMessage, 'headers'> & { readonly id?: unknown };

/** The headers that every answer carries. */
export function commonHeaders(requestId: string): Record<string, string> {
  return { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', 'X-Request-Id': requestId };
}
