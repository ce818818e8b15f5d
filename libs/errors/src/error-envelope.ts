import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import { DomainError, isError } from './domain-error.js';
import { ERROR_KINDS, type ErrorCode, type ErrorKind, errorKindForStatus } from './error-kinds.js';

/** The body of every error response. */
export interface ErrorEnvelope {
  readonly success: false;
  readonly error: string;
  readonly message: string;
}

/** An error response: the status, the body, and the headers of its error code. */
export interface ErrorResponse {
  readonly status: number;
  readonly body: ErrorEnvelope;
  readonly headers: Readonly<Record<string, string>>;
}

/** Seconds after which a client may retry (RFC 9110, section 10.2.3). */
const RETRY_AFTER_SECONDS = 1;

/** Returns the response for a kind of error, by default with the message of the kind. */
export function responseForKind(
  kind: ErrorCode | ErrorKind,
  message?: string,
  retryAfter = RETRY_AFTER_SECONDS,
): ErrorResponse {
  const { code: error, status, message: text } = typeof kind === 'string' ? ERROR_KINDS[kind] : kind;
  const headers: Record<string, string> = { 'Content-Type': 'application/json; charset=utf-8' };
  if (error === 'SERVICE_UNAVAILABLE' || error === 'RATE_LIMITED')
    headers['Retry-After'] = String(retryAfter);
  return { status, body: { success: false, error, message: message ?? text }, headers };
}

/**
 * Returns the response for any thrown value, with the message of a DomainError or of a host's
 * HttpException. If no route was reached (`isOfRoute` is false), the message of an HttpException is
 * not sent: Nest and Express include values from the client there.
 */
export function responseForThrown(thrown: unknown, isOfRoute = true): ErrorResponse {
  if (thrown instanceof DomainError) return responseForKind(thrown, thrown.message, thrown.retryAfter);
  if (!(thrown instanceof HttpException)) return responseForKind('INTERNAL_ERROR');
  return responseForKind(errorKindForStatus(thrown.getStatus()), isOfRoute ? messageOf(thrown) : undefined);
}

/**
 * Returns the message that a host gave an HttpException. Returns undefined if it gave none, or if the status is not
 * 4xx: such a message is only for the log.
 */
function messageOf(exception: HttpException): string | undefined {
  const status = exception.getStatus();
  const response = exception.getResponse();
  if (!(status >= 400 && status <= 499) || isError(response)) return undefined;
  const { message } =
    typeof response === 'string' ? { message: response } : (response as { message?: unknown });
  // Nest's pipes give several.
  const text = [message]
    .flat()
    .filter((part) => typeof part === 'string')
    .join('; ');
  // Without a message Nest uses the name of the status, or the other text if a guard returns false.
  return ['', STATUS_CODES[status], 'Forbidden resource'].includes(text) ? undefined : text;
}
