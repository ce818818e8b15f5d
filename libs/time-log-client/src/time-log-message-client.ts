import {
  MAX_PAGE_SIZE,
  requireKey,
  requirePageSize,
  type RetryLimits,
  type Token,
  withDefaults,
} from './arguments.js';
import { type Failure, parseErrorBody } from './failure.js';
import { iterateLogs } from './iterate-logs.js';
import { type Outcome, type RetryableRequest, RetryingSender } from './retrying-sender.js';
import { randomId, type Runtime, RUNTIME } from './runtime.js';
import {
  type CallOptions,
  type ListOptions,
  parseLog,
  POSSIBLY_RECORDED,
  type NewTimeLog,
  type PageFilter,
  parsePage,
  type RecordedTimeLog,
  type RecordOptions,
  type TimeLog,
  type TimeLogFilter,
  type TimeLogPage,
  type TimeLogs,
  parametersOf,
  type Totals,
  type TotalsFilter,
  parseTotals,
} from './time-logs.js';

/** The part of a ClientProxy of @nestjs/microservices 11 or 12 that is used here. */
export interface MessageProxy {
  send(
    pattern: string,
    data: object,
  ): {
    subscribe(observer: { next(answer: unknown): void; error(error: unknown): void; complete(): void }): {
      unsubscribe(): void;
    };
  };
}

/** The transport, the token, and the limits of tries. */
export interface TimeLogMessageClientOptions extends RetryLimits {
  /**
   * The ClientProxy, for RabbitMQ with the queue `time-logs`. The caller connects and closes it.
   */
  readonly proxy: MessageProxy;
  /**
   * The access token, or a function that returns the current one. It is called once per call. Omit
   * it if the receiver identifies its callers otherwise.
   */
  readonly token?: Token;
}

/** A message and the parser of its reply. */
interface Message<T> {
  readonly pattern: string;
  readonly data: object;
  /** Returns the result in a reply; undefined if the reply is not a success. */
  readonly parse: (reply: unknown) => T | undefined;
}

/**
 * Records and lists time logs over a transport of Nest. Repeats messages if there is no reply or
 * the service is overloaded, which is safe for all of them. A call that fails rejects with
 * TimeLogError.
 */
export class TimeLogMessageClient implements TimeLogs {
  private readonly proxy: MessageProxy;
  private readonly sender: RetryingSender;

  /** Throws TypeError if an option is invalid. */
  constructor(options: TimeLogMessageClientOptions, runtime: Omit<Runtime, 'fetch'> = RUNTIME) {
    this.proxy = options.proxy;
    this.sender = new RetryingSender({ token: options.token, ...withDefaults(options) }, runtime);
  }

  async record(
    timeLog: NewTimeLog,
    { idempotencyKey = randomId(), signal }: RecordOptions = {},
  ): Promise<RecordedTimeLog> {
    requireKey(idempotencyKey);
    const message = { pattern: 'time-log.record.v1', data: { idempotencyKey, timeLog }, parse: parseLog };
    return this.call(message, signal, { idempotencyKey, possibleChange: POSSIBLY_RECORDED });
  }

  /** The page size is reduced if a page is too large for the transport. */
  list(
    filter: TimeLogFilter = {},
    { pageSize = MAX_PAGE_SIZE, signal }: ListOptions = {},
  ): AsyncGenerator<TimeLog, void, undefined> {
    requirePageSize(pageSize);
    return iterateLogs((page) => this.listPage({ ...filter, ...page }, { signal }), pageSize);
  }

  async listPage(filter: PageFilter = {}, { signal }: CallOptions = {}): Promise<TimeLogPage> {
    const data = { query: parametersOf(filter) };
    return this.call({ pattern: 'time-log.list.v1', data, parse: parsePage }, signal);
  }

  async totals(filter: TotalsFilter = {}, { signal }: CallOptions = {}): Promise<Totals> {
    const data = { query: parametersOf(filter) };
    return this.call({ pattern: 'time-log.totals.v1', data, parse: parseTotals }, signal);
  }

  private call<T>(
    message: Message<T>,
    signal: AbortSignal | undefined,
    change?: Pick<RetryableRequest<T>, 'idempotencyKey' | 'possibleChange'>,
  ): Promise<T> {
    const send = (token: string | undefined, trySignal: AbortSignal) => this.send(message, token, trySignal);
    return this.sender.send({ send, ...change }, signal);
  }

  private send<T>(
    { pattern, data, parse }: Message<T>,
    token: string | undefined,
    signal: AbortSignal,
  ): Promise<Outcome<T>> {
    const message = token === undefined ? data : { accessToken: token, ...data };
    return new Promise((resolve) => {
      const subscription = this.proxy.send(pattern, message).subscribe({
        next: (reply) => {
          const value = parse(reply);
          resolve(value === undefined ? unexpected('another body') : { value });
        },
        error: (error) => resolve(parseErrorBody(error) ?? parseNestError(error) ?? noReply(error)),
        complete: () => resolve(noReply()),
      });
      signal.addEventListener('abort', () => subscription.unsubscribe());
    });
  }
}

/** Returns the failure in Nest's error for a missing or failed handler; undefined for others. */
function parseNestError(error: unknown): Failure | undefined {
  // Some errors of transports are strings, too.
  if (typeof error === 'string') return error.startsWith('Error: ') ? undefined : unexpected(error);
  const { status, message } = (error ?? {}) as { readonly status?: unknown; readonly message?: unknown };
  return status === 'error' && typeof message === 'string' ? unexpected(message) : undefined;
}

function unexpected(reply: string): Failure {
  const message = `the reply is not from the service (${reply}): check that the service receives messages on this transport`;
  return { code: 'UNEXPECTED_ANSWER', message };
}

function noReply(cause?: unknown): Failure {
  return { code: 'NO_ANSWER', message: 'the connection failed', cause };
}
