import { ERROR_KINDS, type ErrorCode, type ErrorKind } from './error-kinds.js';

export type { ErrorKind } from './error-kinds.js';

/** The mark of this class in every build: a process may load both ES modules and CommonJS. */
const BRAND = Symbol.for('time-logs.DomainError');

/**
 * An error that is reported to the client. Its kind determines code, status and default message.
 * The message is sent as it is: it must never contain a sent value, SQL or the text of a parser.
 */
export class DomainError extends Error {
  static {
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  /** Recognizes the errors of every build. A subclass has no brand of its own. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== DomainError) return super[Symbol.hasInstance](value);
    return typeof value === 'object' && value !== null && BRAND in (Object.getPrototypeOf(value) ?? {});
  }

  override readonly name = 'DomainError';
  readonly code: string;
  readonly status: number;
  /** Seconds after which the client may retry. If undefined, the code determines them. */
  readonly retryAfter: number | undefined;
  /** The message for the log, without names that the client chose: they may be secrets. */
  readonly logged: string;

  constructor(
    kind: ErrorCode | ErrorKind,
    message?: string,
    options: ErrorOptions & { readonly retryAfter?: number; readonly logged?: string } = {},
  ) {
    const { code, status, message: text } = typeof kind === 'string' ? ERROR_KINDS[kind] : kind;
    super(message ?? text, options);
    this.code = code;
    this.status = status;
    this.retryAfter = options.retryAfter;
    this.logged = options.logged ?? this.message;
  }
}
