import type { components } from './openapi.js';

/** The codes of the service's own errors, as its documentation has them. */
export type ServiceErrorCode = components['schemas']['ErrorBody']['error'];

/**
 * - NO_ANSWER: the connection failed or no answer came in time; `cause` is what the connection said.
 * - UNEXPECTED_ANSWER: something answered that is not the service, such as a proxy with a page of its own.
 * - ABORTED: by the signal of the caller; `cause` is the signal's reason.
 * - LIST_CHANGED: the log up to which a list was read was deleted meanwhile.
 */
export type TimeLogErrorCode =
  ServiceErrorCode | 'NO_ANSWER' | 'UNEXPECTED_ANSWER' | 'ABORTED' | 'LIST_CHANGED';

interface TimeLogErrorFacts extends ErrorOptions {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly isOutcomeUnknown?: boolean;
  readonly idempotencyKey?: string | undefined;
}

/** Why a call failed, after all tries that made sense. */
export class TimeLogError extends Error {
  override readonly name = 'TimeLogError';
  /** Of the last answer; undefined where there was none. */
  readonly status: number | undefined;
  /** Names the call in the log of the service, where its tries got that far. */
  readonly requestId: string | undefined;
  /** Seconds that the service asks to wait. */
  readonly retryAfter: number | undefined;
  /**
   * True where a log may have been recorded all the same. With the `idempotencyKey` it can be recorded again, within 24 hours
   * and with the same token, without a second one.
   */
  readonly isOutcomeUnknown: boolean;
  /** The key that a record was sent with, the caller's or one made for it. */
  readonly idempotencyKey: string | undefined;

  constructor(
    readonly code: TimeLogErrorCode,
    message: string,
    facts: TimeLogErrorFacts = {},
  ) {
    super(message, facts);
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.retryAfter = facts.retryAfter;
    this.isOutcomeUnknown = facts.isOutcomeUnknown ?? false;
    this.idempotencyKey = facts.idempotencyKey;
  }
}
