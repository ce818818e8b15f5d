import { HttpException } from '@nestjs/common';
import { DomainError } from './domain-error.js';
import { codeOfStatus, ERROR_KINDS, type ErrorCode, type ErrorKind } from './error-kinds.js';

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
 * The answer for anything that was thrown. Only the message of a DomainError is sent: others may hold a sent value.
 */
export function answerForThrown(thrown: unknown): ErrorAnswer {
  if (thrown instanceof DomainError) return answerFor(thrown, thrown.message, thrown.retryAfter);
  // A host's guard or pipe may choose a status that the table lacks. The answer keeps it.
  if (thrown instanceof HttpException) {
    const answer = answerFor(codeOfStatus(thrown.getStatus()));
    return thrown.getStatus() < 400 ? answer : { ...answer, status: thrown.getStatus() };
  }
  return answerFor('INTERNAL_ERROR');
}
