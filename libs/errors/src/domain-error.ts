/** Every code that an answer of the service can have in its `error` member. */
export type ErrorCode =
  | 'VALIDATION_ERROR'
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'REQUEST_TIMEOUT'
  | 'PAYLOAD_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'EXPECTATION_FAILED'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'RATE_LIMITED'
  | 'HEADERS_TOO_LARGE'
  | 'INTERNAL_ERROR'
  | 'SERVICE_UNAVAILABLE';

/** On every error of this class, whichever build made it: a process may load ES modules and CommonJS. */
const BRAND = Symbol.for('time-logs.DomainError');

/**
 * A refusal that the caller sees. Its code decides the status, and its message is sent as it is. So the message must
 * never hold a value that was sent, SQL or the text of a parser.
 */
export class DomainError extends Error {
  static {
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  /** `instanceof` knows the errors of every build. A class that extends this one has no brand of its own. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== DomainError) return super[Symbol.hasInstance](value);
    return typeof value === 'object' && value !== null && BRAND in (Object.getPrototypeOf(value) ?? {});
  }

  override readonly name = 'DomainError';
  /** Seconds after which the caller may try again. Undefined: the code decides. */
  readonly retryAfter: number | undefined;
  /** The message for the log: without names that the caller made up, which may be secrets. */
  readonly logged: string;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: ErrorOptions & { readonly retryAfter?: number; readonly logged?: string } = {},
  ) {
    super(message, options);
    this.retryAfter = options.retryAfter;
    this.logged = options.logged ?? message;
  }
}
