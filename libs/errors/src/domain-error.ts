import { ERROR_KINDS, type ErrorCode, type ErrorKind } from './error-kinds.js';

export type { ErrorKind } from './error-kinds.js';

/** On every error of this class, whichever build made it: a process may load ES modules and CommonJS. */
const BRAND = Symbol.for('time-logs.DomainError');

/**
 * A refusal that the caller sees. Its kind decides code and status, and its message (without one: that of the kind) is
 * sent as it is. So the message must never hold a value that was sent, SQL or the text of a parser.
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
  readonly code: string;
  readonly status: number;
  /** Seconds after which the caller may try again. Undefined: the code decides. */
  readonly retryAfter: number | undefined;
  /** The message for the log: without names that the caller made up, which may be secrets. */
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
