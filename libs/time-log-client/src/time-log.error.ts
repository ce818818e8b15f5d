import type { components } from './openapi.js';

/** The codes of the service's own errors, from its documentation. */
type ServiceErrorCode = components['schemas']['ErrorBody']['error'];

/**
 * The codes of the service, those of an application that embeds it, and:
 * - NO_ANSWER: the connection failed, or there was no response in time. `cause` is the error of the
 *   connection.
 * - UNEXPECTED_ANSWER: the response is not from the service, but from a proxy, for example.
 * - ABORTED: the signal of the caller ended the call. `cause` is the reason of the signal.
 * - LIST_CHANGED: the last listed log was deleted while the list was read.
 */
export type TimeLogErrorCode =
  | ServiceErrorCode
  | 'NO_ANSWER'
  | 'UNEXPECTED_ANSWER'
  | 'ABORTED'
  | 'LIST_CHANGED'
  | (string & Record<never, never>);

interface TimeLogErrorDetails extends ErrorOptions {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly isOutcomeUnknown?: boolean;
  readonly idempotencyKey?: string | undefined;
  readonly stored?: number | undefined;
}

/** The mark of errors of this class from any build or package: a process may load several. */
const BRAND = Symbol.for('time-logs.TimeLogError');

/** The error of a call that failed, after all tries. */
export class TimeLogError extends Error {
  static {
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  /** Makes `instanceof` accept the errors of every build. Subclasses use the usual check. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== TimeLogError) return super[Symbol.hasInstance](value);
    return typeof value === 'object' && value !== null && BRAND in (Object.getPrototypeOf(value) ?? {});
  }

  override readonly name = 'TimeLogError';
  /** The status of the last response; undefined if there was none. */
  readonly status: number | undefined;
  /** The id of the call in the log of the service, if a request was sent. */
  readonly requestId: string | undefined;
  /** The seconds to wait that the service asks for. */
  readonly retryAfter: number | undefined;
  /**
   * Whether logs may have been recorded, corrected or deleted although the call failed. Repeat
   * `record` and `recordAll` with the same values, this `idempotencyKey` and the same token within
   * 24 hours: that creates no second log. After a call with `ifMatch` get the log. Repeat the other
   * calls unchanged.
   */
  readonly isOutcomeUnknown: boolean;
  /** The key of the request: that of the caller, or a generated one. */
  readonly idempotencyKey: string | undefined;
  /** The number of logs that `recordAll` has stored: the first ones. */
  readonly stored: number | undefined;

  constructor(
    readonly code: TimeLogErrorCode,
    message: string,
    details: TimeLogErrorDetails = {},
  ) {
    super(message, details);
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
    this.isOutcomeUnknown = details.isOutcomeUnknown ?? false;
    this.idempotencyKey = details.idempotencyKey;
    this.stored = details.stored;
  }
}
