import { types } from 'node:util';
import { ERROR_KINDS, type ErrorCode, type ErrorKind } from './error-kinds.js';

export type { ErrorKind } from './error-kinds.js';

/** The maximum number of messages in the error of a batch. */
const MAX_BATCH_MESSAGES = 10;

/** The mark of this class in every build: a process may load both ES modules and CommonJS. */
const BRAND = Symbol.for('time-logs.DomainError');

/** One wrong value of an input, without the value. */
export interface ErrorIssue {
  /** The name and place of the value, such as `timeLogs[3].duration`; empty for the whole input. */
  readonly field: string;
  /** The name of the rule that the value violates. */
  readonly rule: string;
  /** The limits of the rule, such as `{ max: 5000 }`. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** An issue with its text for the client. */
export interface Fault extends ErrorIssue {
  readonly message: string;
  /** The text for the log, if the message has a name that the client chose. */
  readonly logged?: string;
}

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
  /** The wrong values of a VALIDATION_ERROR, in the order of the message. */
  readonly issues: readonly ErrorIssue[];

  constructor(
    kind: ErrorCode | ErrorKind,
    message?: string,
    options: ErrorOptions & {
      readonly retryAfter?: number;
      readonly logged?: string;
      readonly issues?: readonly ErrorIssue[];
    } = {},
  ) {
    const { code, status, message: text } = typeof kind === 'string' ? ERROR_KINDS[kind] : kind;
    super(message ?? text, options);
    this.code = code;
    this.status = status;
    this.retryAfter = options.retryAfter;
    this.logged = options.logged ?? this.message;
    this.issues = options.issues ?? [];
  }
}

/** Returns the fault of a value. The rule of a missing value is `required`. */
export function faultOf(
  field: string,
  value: unknown,
  rule: string,
  text: string,
  params: ErrorIssue['params'] = {},
): Fault {
  const issue = value === undefined ? { rule: 'required', params: {} } : { rule, params };
  return { field, ...issue, message: `${field} ${text}` };
}

/** Returns the faults of an object in a list, with its place: `timeLogs[3].duration must be …`. */
export function faultsAt(place: string, faults: readonly Fault[]): Fault[] {
  return faults.map(({ field, rule, params, message, logged = message }) => {
    const prefix = `${place}${field === '' || rule === 'unknown' ? ': ' : '.'}`;
    const name = field === '' ? place : `${place}.${field}`;
    return { field: name, rule, params, message: prefix + message, logged: prefix + logged };
  });
}

/** Returns a DomainError VALIDATION_ERROR with the first messages, and an issue for each fault. */
export function validationError(faults: readonly Fault[], maxMessages = Infinity): DomainError {
  const joined = (texts: readonly string[]) => {
    const more = texts.length - maxMessages;
    return [...texts.slice(0, maxMessages), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  };
  const logged = new Set(faults.map((fault) => fault.logged ?? fault.message));
  return new DomainError('VALIDATION_ERROR', joined(faults.map(({ message }) => message)), {
    logged: joined([...logged]),
    issues: faults.map(({ field, rule, params }) => ({ field, rule, params })),
  });
}

/** Returns the error of a batch. It has at most 10 messages, and the number of the others. */
export function batchError(faults: readonly Fault[]): DomainError {
  return validationError(faults, MAX_BATCH_MESSAGES);
}

/** Throws DomainError VALIDATION_ERROR if there are faults. */
export function throwFaults(faults: readonly (Fault | undefined)[]): void {
  const found = faults.filter((fault) => fault !== undefined);
  if (found.length > 0) throw validationError(found);
}

/** Returns whether a value is an Error of any realm: test runners and `node:vm` have their own. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}

/** Returns the message of an error, for the log; `unknown` if the value is not an Error. */
export function reasonOf(error: unknown): string {
  if (!isError(error)) return 'unknown';
  // If no address of a host name can be reached, only the errors of the addresses have a message.
  if (error.message === '' && error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error.message;
}
