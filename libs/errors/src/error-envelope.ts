import { HttpException } from '@nestjs/common';
import { DomainError } from './domain-error.js';
import { ERROR_KINDS, type ErrorCode, type ErrorKind, kindOfStatus } from './error-kinds.js';
import { wordsOf } from './words.js';

/** The body of every answer that is not a success. */
export interface ErrorEnvelope {
  readonly success: false;
  readonly error: string;
  readonly message: string;
}

/** An error as an answer: status, body, and the headers that belong to its code. */
export interface ErrorAnswer {
  readonly status: number;
  readonly body: ErrorEnvelope;
  readonly headers: Readonly<Record<string, string>>;
}

/** Seconds after which a client may try again (RFC 9110, section 10.2.3). */
const RETRY_AFTER = 1;

/** The answer for a kind of error. The message is the kind's own unless one is given. */
export function answerFor(
  kind: ErrorCode | ErrorKind,
  message?: string,
  retryAfter = RETRY_AFTER,
): ErrorAnswer {
  const { code: error, status, message: text } = typeof kind === 'string' ? ERROR_KINDS[kind] : kind;
  const headers: Record<string, string> = { 'Content-Type': 'application/json; charset=utf-8' };
  if (error === 'SERVICE_UNAVAILABLE' || error === 'RATE_LIMITED')
    headers['Retry-After'] = String(retryAfter);
  return { status, body: { success: false, error, message: message ?? text }, headers };
}

/**
 * The answer for anything that was thrown: with the message of a DomainError, and with the words of an HttpException by
 * which a host refuses. `isOfRoute` is false where no route was reached: what Nest and Express throw there may hold a
 * value that was sent.
 */
export function answerForThrown(thrown: unknown, isOfRoute = true): ErrorAnswer {
  if (thrown instanceof DomainError) return answerFor(thrown, thrown.message, thrown.retryAfter);
  if (!(thrown instanceof HttpException)) return answerFor('INTERNAL_ERROR');
  return answerFor(kindOfStatus(thrown.getStatus()), isOfRoute ? wordsOf(thrown) : undefined);
}
