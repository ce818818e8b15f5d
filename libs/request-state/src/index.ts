import type { IncomingMessage } from 'node:http';
import { DomainError, type Fault } from '../../errors/src/domain-error.js';

/** The caller on whose behalf a request or a message acts. */
export interface Caller {
  /** A stable identifier. Without one the caller cannot own idempotency keys. */
  readonly id?: string | undefined;
  readonly scopes: readonly string[];
  /** The projects that the caller is bound to, as UUIDs; undefined: all. */
  readonly projects?: readonly string[] | undefined;
  /** The values of attributes that the caller is bound to; undefined: any. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>> | undefined;
}

/** The change that a request or message makes, for the access log. */
export interface RequestChange {
  /** The kind of change, in one word. */
  readonly kind: string;
  /** The id of the changed object, or of the first one. */
  readonly id: string;
  /** The number of changed objects. The default is 1. */
  readonly count?: number;
}

/**
 * A member that a module adds to the DTOs of its bodies and queries, since its rules are known only at run time. In a
 * validated DTO it is a function that returns the value: a pipe of a host may copy or change an object.
 */
export interface AddedMember {
  readonly name: string;
  /** Returns the faults of the value in a body, which is undefined if it is missing, from a caller. */
  readonly faultsOf: (value: unknown, caller: Caller | undefined) => Promise<readonly Fault[]>;
  /** Returns the DTO of a query, or a class that extends it and has the parameters of the member. */
  readonly extend: <T extends object>(dto: new () => T) => new () => T;
  /** Returns the value in a query that such a DTO has checked; undefined if it is missing. */
  readonly valueIn: (query: object) => unknown;
}

/** The injection token of an optional AddedMember. */
export const ADDED_MEMBER = Symbol.for('time-logs.ADDED_MEMBER');

/** The rules of a module for its requests. */
export interface RequestRules {
  /** The maximum size of the received body in bytes. */
  readonly bodyLimit: number;
  /** The same for a batch. */
  readonly batchLimit: number;
  /** The maximum total time that the request waits, in milliseconds. */
  readonly deadline: number;
  readonly addedMember?: AddedMember | undefined;
}

/** The injection token of the rules that a module provides for its controllers. */
export const REQUEST_RULES = Symbol.for('time-logs.REQUEST_RULES');

/** The state of a request or message while it is served. */
export class RequestState {
  /** In milliseconds of `performance.now()`. */
  readonly startedAt = performance.now();
  /** The caller that a guard let pass. */
  caller: Caller | undefined = undefined;
  /** The remaining time that it may wait, in milliseconds; undefined: no limit. */
  remainingWaitMs: number | undefined = undefined;
  /** The rules of the module that serves it. */
  rules: RequestRules | undefined = undefined;
  change: RequestChange | undefined = undefined;
  /** The challenge (RFC 6750, section 3) for a DomainError with status 403 after the guard. */
  challenge: string | undefined = undefined;
  /** The code of the error with which it was answered, and the reason for the log. */
  error: string | undefined = undefined;
  reason: string | undefined = undefined;
}

/** The key of the state, the same in every build: a process may load ES modules and CommonJS. */
const STATE: unique symbol = Symbol.for('time-logs.request state');

/** Returns the state of a request, or of the message with this data. */
export function stateOf(request: object): RequestState {
  return ((request as { [STATE]: RequestState | undefined })[STATE] ??= new RequestState());
}

/** Applies rules to a request or message before its first wait. It keeps a deadline that is set. */
export function applyRules(request: object, rules: RequestRules): void {
  const state = stateOf(request);
  state.rules = rules;
  state.remainingWaitMs ??= rules.deadline;
}

/** Returns the rules for a request or message. */
export function rulesOf(request: object): RequestRules {
  const { rules } = stateOf(request);
  if (!rules) throw new Error('applyRules must be called before the input is read');
  return rules;
}

/**
 * Waits for work on behalf of a request. All waits of a request share one deadline, which does not
 * include the time in which the client sends the request. Rejects with DomainError
 * SERVICE_UNAVAILABLE when the deadline passes. The work then continues within its own limits, and
 * its result is dropped. A request without a deadline waits without a limit.
 */
export function withinDeadline<T>(request: object, work: Promise<T>): Promise<T> {
  const state = stateOf(request);
  const { remainingWaitMs } = state;
  if (remainingWaitMs === undefined) return work;
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      state.remainingWaitMs = 0;
      reject(new DomainError('SERVICE_UNAVAILABLE'));
    }, remainingWaitMs);
    const end = () => {
      clearTimeout(timer);
      state.remainingWaitMs = Math.max(0, remainingWaitMs - (performance.now() - start));
    };
    // Before `resolve`, so that the caller continues with the remaining time.
    work.then(end, end);
    work.then(resolve, reject);
  });
}

/** The request ids that a client may send: short, and harmless in a log and a header. */
const WELL_FORMED_ID = /^[A-Za-z0-9._~:+/=@-]{1,128}$/;

/** Returns the id of a request if it is well-formed, else undefined. */
export function parseRequestId(value: unknown): string | undefined {
  return typeof value === 'string' && WELL_FORMED_ID.test(value) ? value : undefined;
}

/**
 * Returns the values of the headers with a name, which is in lower case, in their order. `headers` of
 * Node has only the first of some, and joins others; `headersDistinct` converts all names and values.
 */
export function headerValues({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index]!;
    // The names of headers are not case-sensitive (RFC 9110, section 5.1).
    if (header.length === name.length && header.toLowerCase() === name) values.push(rawHeaders[index + 1]!);
  }
  return values;
}

/** A provider whose work must end before the app closes. A shutdown finds all subclasses. */
export abstract class Drainable {
  /** Accepts no more work. Resolves when all has ended. Each call returns the same promise. */
  abstract drain(): Promise<void>;
}
