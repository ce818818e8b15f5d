import { type Failure, isTransient, leavesOutcomeUnknown } from './failure.js';
import { type Runtime, ABORTED, runWithTimeout, TIMED_OUT, wait } from './run-with-timeout.js';
import type { RetryLimits, Token } from './arguments.js';
import { TimeLogError } from './time-log.error.js';

/** The upper limit of the random delay before the first retry. It doubles with each retry. */
const FIRST_DELAY_MS = 250;
/** The maximum upper limit of the random delay. */
const MAX_DELAY_MS = 5_000;
/** Visible ASCII. For other characters fetch would throw an error that contains the token. */
const TOKEN_PATTERN = /^[\x21-\x7e]+$/;
/** The place of a log in a message of the service about several. */
const INDEX_IN_REQUEST = /(?<=\btimeLogs\[)\d+(?=\])/g;

/** The result of a request, or the reason why there is none. */
export type Outcome<T> = { readonly value: T } | Failure;

/** The properties of a call that its error reports. */
export interface CallDetails {
  /** The id of the call in the log of the service. */
  readonly requestId?: string | undefined;
  /** Makes a request safe to repeat that is not idempotent. */
  readonly idempotencyKey?: string;
  /** The number of logs that earlier requests of the same call have stored. */
  readonly stored?: number;
  /** The possible change if the outcome is unknown, and what to do then. */
  readonly possibleChange?: string;
}

/** A request that may be sent more than once. */
export interface RetryableRequest<T> extends CallDetails {
  /** Sends the request once, with the token of the call. Rejects if the connection fails. */
  readonly send: (token: string | undefined, signal: AbortSignal) => Promise<Outcome<T>>;
  /** Whether a repeat may be refused because of the change that an earlier try has made. */
  readonly isConditional?: boolean;
  /** The result if a repeat does not find the log, because an earlier try may have deleted it. */
  readonly missing?: T;
}

interface SenderOptions extends Required<RetryLimits> {
  /** Undefined if requests have no token. */
  readonly token: Token | undefined;
}

/** Sends requests, and repeats them if that may help, within limits of tries and time. */
export class RetryingSender {
  constructor(
    private readonly options: SenderOptions,
    private readonly runtime: Omit<Runtime, 'fetch'>,
  ) {}

  /**
   * Sends a request. Rejects with TimeLogError, or with the error of the `token` function if the call has stored no
   * logs before.
   */
  async send<T>(
    request: RetryableRequest<T>,
    signal: AbortSignal | undefined,
    tries = this.options.tries,
  ): Promise<T> {
    const end = this.runtime.now() + this.options.deadline;
    const token = await this.getToken(request, signal);
    let isOutcomeUnknown = false;
    for (let tryCount = 1; ; tryCount++) {
      const result = await this.attempt(request, token, end, signal);
      if ('value' in result) return result.value;
      if (isOutcomeUnknown && result.code === 'NOT_FOUND' && request.missing !== undefined)
        return request.missing;
      isOutcomeUnknown ||= request.possibleChange !== undefined && leavesOutcomeUnknown(result);
      const isRepeatable = !(request.isConditional && isOutcomeUnknown);
      const mayRetry = isTransient(result) && tryCount < tries && isRepeatable;
      const failure = mayRetry ? await this.waitForRetry(result, tryCount, end, signal) : result;
      if (failure) throw errorOf(failure, request, tryCount, isOutcomeUnknown);
    }
  }

  /** Awaits the next part of a response. Rejects with TimeLogError if it does not arrive in time. */
  async receive<T>(
    read: () => Promise<T>,
    { signal, ...call }: CallDetails & { readonly signal: AbortSignal | undefined },
  ): Promise<T> {
    const request = { send: async () => ({ value: await read() }) };
    const outcome = await this.attempt(request, undefined, Infinity, signal);
    if ('value' in outcome) return outcome.value;
    throw errorOf(outcome, call);
  }

  /** Gets the token once per call: with another token, the same key would create a second log. */
  private async getToken(call: CallDetails, signal: AbortSignal | undefined): Promise<string | undefined> {
    const { token, deadline } = this.options;
    if (token === undefined) return undefined;
    const unsent = { ...call, requestId: undefined };
    const get = async () => parseToken(typeof token === 'string' ? token : await token());
    const getting = runWithTimeout(get, { milliseconds: deadline, signal }, this.runtime.schedule);
    const text = await getting.catch((cause: unknown) => {
      if (!call.stored) throw cause;
      throw errorOf({ code: 'NO_ANSWER', message: 'the token function failed', cause }, unsent);
    });
    if (text === ABORTED) throw errorOf(abortFailure(signal), unsent);
    if (text === TIMED_OUT)
      throw errorOf({ code: 'NO_ANSWER', message: 'the token was not available in time' }, unsent);
    return text;
  }

  private async attempt<T>(
    { send }: RetryableRequest<T>,
    token: string | undefined,
    end: number,
    signal: AbortSignal | undefined,
  ): Promise<Outcome<T>> {
    const { now, schedule } = this.runtime;
    const limits = { milliseconds: Math.min(this.options.timeout, end - now()), signal };
    try {
      const outcome = await runWithTimeout((trySignal) => send(token, trySignal), limits, schedule);
      if (outcome === TIMED_OUT) return { code: 'NO_ANSWER', message: 'no response in time' };
      return outcome === ABORTED ? abortFailure(signal) : outcome;
    } catch (cause) {
      return { code: 'NO_ANSWER', message: 'the connection failed', cause };
    }
  }

  /** Waits before the next try. Returns the failure if there must be no other try. */
  private async waitForRetry(
    failure: Failure,
    tryCount: number,
    end: number,
    signal: AbortSignal | undefined,
  ): Promise<Failure | undefined> {
    const { now, random, schedule } = this.runtime;
    const jitter = random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (tryCount - 1));
    const milliseconds = (failure.retryAfter ?? 0) + jitter;
    if (now() + milliseconds >= end) return failure;
    if ((await wait({ milliseconds, signal }, schedule)) === ABORTED) return abortFailure(signal);
    // The machine may have been suspended for longer than the lifetime of the key.
    return now() >= end ? failure : undefined;
  }
}

function parseToken(text: string): string {
  if (TOKEN_PATTERN.test(text.trim())) return text.trim();
  throw new TypeError('token must be visible ASCII characters without spaces');
}

function abortFailure(signal: AbortSignal | undefined): Failure {
  return { code: 'ABORTED', message: 'aborted by the signal of the caller', cause: signal?.reason };
}

function errorOf(
  { code, message, cause, status, requestId, retryAfter }: Failure,
  { stored, idempotencyKey, possibleChange, ...call }: CallDetails,
  tryCount = 0,
  isOutcomeUnknown = false,
): TimeLogError {
  // The service names a log by its index in the request.
  const parts = [message.replace(INDEX_IN_REQUEST, (index) => `${Number(index) + (stored ?? 0)}`)];
  if (tryCount > 1) parts.push(`gave up after ${tryCount} tries`);
  if (stored) parts.push(`the first ${stored} logs are stored`);
  if (isOutcomeUnknown) parts.push(possibleChange!);
  return new TimeLogError(code, parts.join('; '), {
    ...(cause !== undefined && { cause }),
    status,
    requestId: requestId ?? call.requestId,
    retryAfter: retryAfter === undefined ? undefined : Math.ceil(retryAfter / 1_000),
    isOutcomeUnknown,
    idempotencyKey,
    stored,
  });
}
