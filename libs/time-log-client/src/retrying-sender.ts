import { type Failure, isTransient, leavesOutcomeUnknown } from './answer.js';
import type { Runtime } from './runtime.js';
import type { Token } from './arguments.js';
import { TimeLogError } from './time-log.error.js';
import { ABORTED, LATE, within } from './within.js';

/** Milliseconds: the bound of the first pause. It doubles with each further pause, up to the longest. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5_000;
/** Visible ASCII. With anything else fetch would throw an error that repeats the token. */
const TOKEN = /^[\x21-\x7e]+$/;

/** The result of a request, or why there is none. */
export type Outcome<T> = { readonly value: T } | Failure;

/** A request that may be sent more than once. */
export interface Call<T> {
  /** Sends it once, with the token of the call. Rejects where the connection fails. */
  readonly send: (token: string | undefined, signal: AbortSignal) => Promise<Outcome<T>>;
  /** The id of the call in the service's log. */
  readonly requestId?: string;
  /** Makes a request safe to repeat that is not safe by itself. */
  readonly idempotencyKey?: string;
  /** Of a request that changes a log: what that may have been where the outcome is unknown, and what to do then. */
  readonly mayHaveBeen?: string;
  /** What the outcome of a try means where an earlier one may have done the work; by default the same. */
  readonly again?: (outcome: Outcome<T>) => Outcome<T>;
}

/** How often a call may be tried, and what ends it. */
interface Persistence {
  readonly tries: number;
  readonly signal: AbortSignal | undefined;
}

/** What is known about a call that was sent, beside its failure. */
interface Sent {
  readonly count?: number;
  readonly requestId?: string;
  readonly isOutcomeUnknown?: boolean;
  readonly idempotencyKey?: string;
  readonly mayHaveBeen?: string;
}

interface SenderOptions {
  /** Without it, requests carry none. */
  readonly token: Token | undefined;
  /** The most milliseconds of one try. */
  readonly timeout: number;
  /** The most milliseconds of a whole call. */
  readonly deadline: number;
}

/** Sends requests. Repeats one where that is safe and may help, within limits of tries and time. */
export class RetryingSender {
  constructor(
    private readonly options: SenderOptions,
    private readonly runtime: Omit<Runtime, 'fetch'>,
  ) {}

  /** Rejects with TimeLogError, or with what the caller's own `token` function has thrown. */
  async call<T>(call: Call<T>, { tries, signal }: Persistence): Promise<T> {
    const end = this.runtime.now() + this.options.deadline;
    const token = await this.token(signal);
    let isOutcomeUnknown = false;
    for (let count = 1; ; count++) {
      const outcome = await this.attempt(call, token, end, signal);
      const result: Outcome<T> = isOutcomeUnknown && call.again ? call.again(outcome) : outcome;
      if ('value' in result) return result.value;
      isOutcomeUnknown ||= call.mayHaveBeen !== undefined && leavesOutcomeUnknown(result);
      const mayGoOn = isTransient(result) && count < tries;
      const failure = mayGoOn ? await this.pause(result, count, end, signal) : result;
      if (failure) throw errorOf(failure, { count, isOutcomeUnknown, ...call });
    }
  }

  /** Asks for the token once per call: a key belongs to its token, so another token would make a second log. */
  private async token(signal: AbortSignal | undefined): Promise<string | undefined> {
    const { token, deadline } = this.options;
    if (token === undefined) return undefined;
    const patience = { milliseconds: deadline, signal };
    const ask = async () => (typeof token === 'string' ? token : token());
    const text = await within(ask, patience, this.runtime.schedule);
    if (text === ABORTED) throw errorOf(abortion(signal));
    if (text === LATE) throw errorOf({ code: 'NO_ANSWER', message: 'the token did not come in time' });
    if (!TOKEN.test(text.trim()))
      throw new TypeError('token must be visible ASCII characters without spaces');
    return text.trim();
  }

  private async attempt<T>(
    { send }: Call<T>,
    token: string | undefined,
    end: number,
    signal: AbortSignal | undefined,
  ): Promise<Outcome<T>> {
    const { now, schedule } = this.runtime;
    const patience = { milliseconds: Math.min(this.options.timeout, end - now()), signal };
    try {
      const outcome = await within((aborted) => send(token, aborted), patience, schedule);
      if (outcome === LATE) return { code: 'NO_ANSWER', message: 'no answer came in time' };
      return outcome === ABORTED ? abortion(signal) : outcome;
    } catch (cause) {
      return { code: 'NO_ANSWER', message: 'the connection failed', cause };
    }
  }

  /** Waits before the next try. Returns the failure instead where there must not be another try. */
  private async pause(
    failure: Failure,
    count: number,
    end: number,
    signal: AbortSignal | undefined,
  ): Promise<Failure | undefined> {
    const { now, random, schedule } = this.runtime;
    const jitter = random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (count - 1));
    const milliseconds = (failure.retryAfter ?? 0) + jitter;
    if (now() + milliseconds >= end) return failure;
    const never = () => new Promise<never>(() => undefined);
    const ended = await within(never, { milliseconds, signal }, schedule);
    if (ended === ABORTED) return abortion(signal);
    // The machine may have slept meanwhile, perhaps longer than the key lives.
    return now() >= end ? failure : undefined;
  }
}

function abortion(signal: AbortSignal | undefined): Failure {
  return { code: 'ABORTED', message: 'aborted by the signal of the caller', cause: signal?.reason };
}

function errorOf(
  { code, message, cause, status, requestId, retryAfter }: Failure,
  { count = 0, isOutcomeUnknown = false, ...sent }: Sent = {},
): TimeLogError {
  const parts = [message];
  if (count > 1) parts.push(`gave up after ${count} tries`);
  if (isOutcomeUnknown) parts.push(`the log may have been ${sent.mayHaveBeen}`);
  return new TimeLogError(code, parts.join('; '), {
    ...(cause !== undefined && { cause }),
    status,
    requestId: requestId ?? sent.requestId,
    retryAfter: retryAfter === undefined ? undefined : Math.ceil(retryAfter / 1_000),
    isOutcomeUnknown,
    idempotencyKey: sent.idempotencyKey,
  });
}
