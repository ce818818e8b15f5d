import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { parseRequestId } from '../../strict-request/src/index.js';

/** Returns the id of a request. It is the client's if that is well-formed, else a new one. */
export function requestIdOf(request: IdentifiedMessage | undefined): string {
  if (typeof request?.id === 'string') return request.id;
  return parseRequestId(request?.headers['x-request-id']) ?? randomUUID();
}

type IdentifiedMessage = Pick<IncomingMessage, 'headers'> & { readonly id?: unknown };

/** Returns the headers of every response. */
export function commonHeaders(requestId: string): Record<string, string> {
  return { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', 'X-Request-Id': requestId };
}
