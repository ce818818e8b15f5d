import { type Answer, type Failure, failureOf, isTransient, leavesOutcomeUnknown } from './answer.js';
import { randomId, type Runtime } from './runtime.js';
import { TimeLogError } from './time-log.error.js';
import { ABORTED, LATE, within } from './within.js';

/** Milliseconds: the bound of the first pause. It doubles with each further pause, up to the longest. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5_000;
/** Visible ASCII. With anything else fetch would throw an error that repeats the token. */
const TOKEN = /^[\x21-\x7e]+$/;

/** A request, and the answers that are a success. */
export interface Call<T> {
  readonly method: 'GET' | 'POST';
  /** The path with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Makes a request safe to repeat that is not safe by itself. */
  readonly idempotencyKey?: string;
  /** The result in an answer; undefined where the answer is no success. */
  readonly read: (answer: Answer) => T | undefined;
}

/** How long a call may be tried. */
interface Endurance {
  readonly tries: number;
  readonly signal: AbortSignal | undefined;
}

/** What is known about a call that was sent, beside its failure. */
interface Sent {
  readonly count?: number;
  readonly requestId?: string;
  readonly isOutcomeUnknown?: boolean;
  readonly idempotencyKey?: string;
}

interface SenderOptions {
  /** Paths are appended to this. */
  readonly root: string;
  readonly token: () => string | Promise<string>;
  /** The most milliseconds of one try. */
  readonly timeout: number;
  /** The most milliseconds of a whole call. */
  readonly deadline: number;
}

/** Sends requests. Repeats one where that is safe and may help, within limits of tries and time. */
export class RetryingSender {
  constructor(
    private readonly options: SenderOptions,
    private readonly runtime: Runtime,
  ) {}

  /** Rejects with TimeLogError, or with what the caller's own `token` function has thrown. */
  async call<T>(call: Call<T>, { tries, signal }: Endurance): Promise<T> {
    const end = this.runtime.now() + this.options.deadline;
    // All tries share this id: so they are found together in the service's log.
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

  /** Asks for the token once per call: a key belongs to its token, so another token would make a second log. */
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
    // The fetch of browsers refuses to be called as a method.
    const { fetch } = this.runtime;
    const response = await fetch(this.options.root + path, {
      method,
      headers,
      signal,
      // A redirect could turn a POST into a GET, whose answer looks like a success.
      redirect: 'manual',
      // The token alone tells the service who calls.
      credentials: 'omit',
      ...(body !== undefined && { body }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
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
