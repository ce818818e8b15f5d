import { type Answer, type Failure, failureOf, isTransient, leavesOutcomeUnknown } from './answer.js';
import { randomId, type Runtime } from './runtime.js';
import { TimeLogError } from './time-log.error.js';
import { ABORTED, LATE, within } from './within.js';

/** Milliseconds below which the first pause lies; the bound doubles with each further one, up to the longest. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5_000;
/** Visible ASCII. The error of a header that refuses anything else would repeat the token. */
const TOKEN = /^[\x21-\x7e]+$/;

/** A request, and what counts as its success. */
export interface Call<T> {
  readonly method: 'GET' | 'POST';
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Makes a request safe to repeat that is not by itself. */
  readonly idempotencyKey?: string;
  /** What an answer brings; undefined where it is no success. */
  readonly read: (answer: Answer) => T | undefined;
}

/** For how long a call is tried. */
interface Endurance {
  readonly tries: number;
  readonly signal: AbortSignal | undefined;
}

/** What is known of a call that was sent, besides how it failed. */
interface Sent {
  readonly count?: number;
  readonly requestId?: string;
  readonly isOutcomeUnknown?: boolean;
  readonly idempotencyKey?: string;
}

interface CallerOptions {
  /** What paths are appended to. */
  readonly root: string;
  readonly token: () => string | Promise<string>;
  /** Milliseconds of one try. */
  readonly timeout: number;
  /** Milliseconds of a call in all. */
  readonly deadline: number;
}

/** Makes calls: sends a request, again where that is safe and promising, within bounds of tries and time. */
export class Caller {
  constructor(
    private readonly options: CallerOptions,
    private readonly runtime: Runtime,
  ) {}

  /** Rejects with TimeLogError, or with what was thrown instead of a token. */
  async call<T>(call: Call<T>, { tries, signal }: Endurance): Promise<T> {
    const end = this.runtime.now() + this.options.deadline;
    // The same for all tries: they belong together in the log of the service.
    const requestId = randomId();
    const token = await this.token(signal);
    const headers = new Headers({
      ...call.headers,
      Authorization: `Bearer ${token}`,
      'X-Request-Id': requestId,
    });
    let isOutcomeUnknown = false;
    for (let count = 1; ; count++) {
      const result = await this.attempt(call, headers, end, signal);
      if ('value' in result) return result.value;
      isOutcomeUnknown ||= call.idempotencyKey !== undefined && leavesOutcomeUnknown(result);
      const mayGoOn = isTransient(result) && count < tries;
      const failure = mayGoOn ? await this.pause(result, count, end, signal) : result;
      if (failure) throw errorOf(failure, { requestId, count, isOutcomeUnknown, ...call });
    }
  }

  /** Once for a call: a key belongs to its token, and with another one a repeated request would make a second log. */
  private async token(signal: AbortSignal | undefined): Promise<string> {
    const { token, deadline } = this.options;
    const patience = { milliseconds: deadline, signal };
    const text = await within(async () => token(), patience, this.runtime.schedule);
    if (text === ABORTED) throw errorOf(abortion(signal));
    if (text === LATE) throw errorOf({ code: 'NO_ANSWER', message: 'the token did not come in time' });
    if (!TOKEN.test(text.trim()))
      throw new TypeError('token must be visible ASCII characters without spaces');
    return text.trim();
  }

  private async attempt<T>(
    call: Call<T>,
    headers: Headers,
    end: number,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly value: T } | Failure> {
    const { now, schedule } = this.runtime;
    const patience = { milliseconds: Math.min(this.options.timeout, end - now()), signal };
    let answer: Answer | typeof LATE | typeof ABORTED;
    try {
      answer = await within((aborted) => this.exchange(call, headers, aborted), patience, schedule);
    } catch (cause) {
      return { code: 'NO_ANSWER', message: 'the connection failed', cause };
    }
    if (answer === LATE) return { code: 'NO_ANSWER', message: 'no answer came in time' };
    if (answer === ABORTED) return abortion(signal);
    const value = call.read(answer);
    return value === undefined ? failureOf(answer, now()) : { value };
  }

  private async exchange(
    { method, path, body }: Call<unknown>,
    headers: Headers,
    signal: AbortSignal,
  ): Promise<Answer> {
    // Not called as a method, which the fetch of browsers refuses.
    const { fetch } = this.runtime;
    const response = await fetch(this.options.root + path, {
      method,
      headers,
      signal,
      // Followed, a redirect could turn a POST into a GET whose answer looks like a success.
      redirect: 'manual',
      // The token is all that the service knows a caller by.
      credentials: 'omit',
      ...(body !== undefined && { body }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Waits before the next try; brings the failure that remains where there is to be none. */
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
    // Later than planned where the machine slept, perhaps for longer than the key lives.
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
  if (isOutcomeUnknown) {
    parts.push('the log may have been recorded: record it again with the idempotencyKey of this error');
  }
  return new TimeLogError(code, parts.join('; '), {
    ...(cause !== undefined && { cause }),
    status,
    requestId: requestId ?? sent.requestId,
    retryAfter: retryAfter === undefined ? undefined : Math.ceil(retryAfter / 1_000),
    isOutcomeUnknown,
    idempotencyKey: sent.idempotencyKey,
  });
}
