import { HttpException } from '@nestjs/common';
import { DomainError, type ErrorCode } from './domain-error.js';
import { codeOfStatus, ERROR_KINDS } from './error-status.js';

/** The body of every answer that is not a success. */
export interface ErrorEnvelope {
  readonly success: false;
  readonly error: ErrorCode;
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

/** The answer for a code. The message is the code's own unless one is given. */
export function answerFor(
  error: ErrorCode,
  message = ERROR_KINDS[error].message,
  retryAfter = RETRY_AFTER,
): ErrorAnswer {
  const headers: Record<string, string> = { 'Content-Type': 'application/json; charset=utf-8' };
  if (error === 'SERVICE_UNAVAILABLE' || error === 'RATE_LIMITED')
    headers['Retry-After'] = String(retryAfter);
  return { status: ERROR_KINDS[error].status, body: { success: false, error, message }, headers };
}

/**
 * The answer for anything that was thrown. Only the message of a DomainError is sent: others may hold a sent value.
 */
export function answerForThrown(thrown: unknown): ErrorAnswer {
  if (thrown instanceof DomainError) return answerFor(thrown.code, thrown.message, thrown.retryAfter);
  // A host's guard or pipe may choose a status that the table lacks. The answer keeps it.
  if (thrown instanceof HttpException) {
    const answer = answerFor(codeOfStatus(thrown.getStatus()));
    return thrown.getStatus() < 400 ? answer : { ...answer, status: thrown.getStatus() };
  }
  return answerFor('INTERNAL_ERROR');
}
