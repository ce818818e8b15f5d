import type { components } from './openapi.js';

/** The codes of the service's own errors, from its documentation. */
export type ServiceErrorCode = components['schemas']['ErrorBody']['error'];

/**
 * - NO_ANSWER: the connection failed, or no answer came in time. `cause` is the error of the connection.
 * - UNEXPECTED_ANSWER: the answer is not from the service, but for example a page of a proxy.
 * - ABORTED: the caller's signal ended the call. `cause` is the signal's reason.
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

/** On every error of this class, whichever build or package made it: a process may load several. */
const BRAND = Symbol.for('time-logs.TimeLogError');

/** Why a call failed, after all tries that could help. */
export class TimeLogError extends Error {
  static {
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  /** `instanceof` knows the errors of every build. A class that extends this one has no brand of its own. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== TimeLogError) return super[Symbol.hasInstance](value);
    return typeof value === 'object' && value !== null && BRAND in (Object.getPrototypeOf(value) ?? {});
  }

  override readonly name = 'TimeLogError';
  /** The status of the last answer; undefined where there was none. */
  readonly status: number | undefined;
  /** The id of the call in the service's log, if a try got that far. */
  readonly requestId: string | undefined;
  /** Seconds to wait, by the word of the service. */
  readonly retryAfter: number | undefined;
  /**
   * True where a log may have been recorded, corrected or deleted although the call failed. Repeat a record with this
   * `idempotencyKey` and the same token within 24 hours: that makes no second log. Repeat the others as they are.
   */
  readonly isOutcomeUnknown: boolean;
  /** The key of the request: the caller's own, or one that was made for it. */
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
