import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { DomainError, type Fault } from '../../errors/src/index.js';

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

/** The result of the rule for an extra field. A rule may add its output. */
export interface ExtraFieldResult {
  readonly faults: readonly Fault[];
}

/** One field that a module accepts in addition to those of a DTO. */
export interface ExtraField {
  /** The DTO with the field. In a DTO that extends it the field is optional: the rule gets no missing value. */
  readonly dto: new () => object;
  readonly name: string;
  /** Checks the value, which is undefined if the field is missing, of a caller. */
  readonly rule: (value: unknown, caller: Caller | undefined) => Promise<ExtraFieldResult>;
}

/** Parameters that a module accepts in addition to those of the DTOs of queries. */
export interface ExtraParameters {
  /** Returns the DTO, or a class that extends it and has them too. */
  readonly extend: <T extends object>(dto: new () => T) => new () => T;
  /** Returns their values in a checked query; undefined if it has none. */
  readonly valuesIn: (query: object) => object | undefined;
}

/** The rules for a request. */
export interface RequestRules {
  /** The maximum size of the received body in bytes. */
  readonly bodyLimit: number;
  /** The same for a batch. */
  readonly batchLimit?: number | undefined;
  /** The maximum total time that the request waits, in milliseconds. */
  readonly deadline: number;
  /** The extra field of the body, or of the part of a message. */
  readonly extraField?: ExtraField | undefined;
  /** The extra parameters of queries. */
  readonly extraParameters?: ExtraParameters | undefined;
}

/** The injection token of the rules that a module provides for its controllers. */
export const REQUEST_RULES = Symbol.for('time-logs.REQUEST_RULES');

/** An input, or one object of a batch, after the check. */
export class CheckedInput {
  /** The checked values, without the extra field. */
  checkedValues: Readonly<Record<string, unknown>> | undefined = undefined;
  /** The result for the extra field. */
  extraFieldResult: ExtraFieldResult | undefined = undefined;

  /** Returns whether an input still has the checked values: pipes of a host may change them. */
  isUnchangedSinceCheck(input: object): boolean {
    const { checkedValues: checked } = this;
    if (checked === undefined) return false;
    const entries = Object.entries(input);
    return (
      entries.length === Object.keys(checked).length &&
      entries.every(([name, value]) => Object.hasOwn(checked, name) && Object.is(value, checked[name]))
    );
  }
}

/** The state of a request or message while it is served, with its input after the check. */
export class RequestState extends CheckedInput {
  /** The caller that a guard let pass. */
  caller: Caller | undefined = undefined;
  /** The maximum size of the body in bytes. */
  bodyLimit: number | undefined = undefined;
  /** The same for a batch. */
  batchLimit: number | undefined = undefined;
  /** The remaining time that it may wait, in milliseconds; undefined: no limit. */
  remainingWaitMs: number | undefined = undefined;
  /** The extra field of the input. */
  extraField: ExtraField | undefined = undefined;
  /** The extra parameters of queries, and their values in this one. */
  extraParameters: ExtraParameters | undefined = undefined;
  extraValues: object | undefined = undefined;
  /** The objects of a batch after the check. */
  checkedItems: readonly CheckedInput[] = [];
  change: RequestChange | undefined = undefined;
}

/** The key of the state, the same in every build: a process may load ES modules and CommonJS. */
export const STATE: unique symbol = Symbol.for('time-logs.request state');

/** A request, or the data of a message. */
export interface Stateful {
  [STATE]?: RequestState | undefined;
}

/** A request or the data of a message after its first guard. */
export interface Served extends Stateful {
  [STATE]: RequestState;
}

/** Returns the state of a request, or of the message with this data. */
export function stateOf(request: object): RequestState {
  return ((request as Stateful)[STATE] ??= new RequestState());
}

/** Applies rules to a request or message before its first wait. It keeps limits that are set. */
export function applyRules(
  request: object,
  { bodyLimit, batchLimit, deadline, extraField, extraParameters }: RequestRules,
): void {
  const state = stateOf(request);
  state.bodyLimit ??= bodyLimit;
  state.batchLimit ??= batchLimit;
  state.remainingWaitMs ??= deadline;
  state.extraField = extraField;
  state.extraParameters = extraParameters;
}

/** Returns the maximum size of the body of a request, or of a batch, in bytes. */
export function limitOf(request: Served, name: 'bodyLimit' | 'batchLimit'): number {
  const { [name]: limit } = request[STATE];
  if (limit === undefined) throw new Error('applyRules must be called before a body is read');
  return limit;
}

/** Applies the rules of the module, since a host has no HTTP edge. Refuses no request. */
@Injectable()
export class RequestRulesGuard implements CanActivate {
  constructor(@Inject(REQUEST_RULES) private readonly rules: RequestRules) {}

  canActivate(context: ExecutionContext): boolean {
    applyRules(context.switchToHttp().getRequest<object>(), this.rules);
    return true;
  }
}

/**
 * Waits for work on behalf of a request. All waits of a request share one deadline, which does not
 * include the time in which the client sends the request. Rejects with DomainError
 * SERVICE_UNAVAILABLE when the deadline passes. The work then continues within its own limits, and
 * its result is dropped. A request without a deadline waits without a limit.
 */
export function withinDeadline<T>(request: object, work: Promise<T>): Promise<T> {
  const state = (request as Stateful)[STATE];
  if (state?.remainingWaitMs === undefined) return work;
  const { remainingWaitMs } = state;
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      state.remainingWaitMs = 0;
      reject(new DomainError('SERVICE_UNAVAILABLE'));
    }, remainingWaitMs);
    const end = () => {
      clearTimeout(timer);
      state.remainingWaitMs = remainingWaitMs - (performance.now() - start);
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
