import { requireKey, type RetryLimits, type Token, withDefaults } from './arguments.js';
import { type Failure, parseErrorBody } from './failure.js';
import { listLogs } from './iterate-logs.js';
import { type CallDetails, type Outcome, RetryingSender } from './retrying-sender.js';
import { randomId, type Runtime, RUNTIME } from './run-with-timeout.js';
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
    const details = { idempotencyKey, possibleChange: POSSIBLY_RECORDED };
    return this.call('time-log.record.v1', { idempotencyKey, timeLog }, parseLog, signal, details);
  }

  /** The page size is reduced if a page is too large for the transport. */
  list(
    filter: TimeLogFilter = {},
    { pageSize, signal }: ListOptions = {},
  ): AsyncGenerator<TimeLog, void, undefined> {
    return listLogs((page) => this.listPage({ ...filter, ...page }, { signal }), pageSize);
  }

  async listPage(filter: PageFilter = {}, { signal }: CallOptions = {}): Promise<TimeLogPage> {
    return this.call('time-log.list.v1', { query: parametersOf(filter) }, parsePage, signal);
  }

  async totals(filter: TotalsFilter = {}, { signal }: CallOptions = {}): Promise<Totals> {
    return this.call('time-log.totals.v1', { query: parametersOf(filter) }, parseTotals, signal);
  }

  /** Sends a message. `parse` returns the result in a reply; undefined if the reply is not a success. */
  private call<T>(
    pattern: string,
    data: object,
    parse: (reply: unknown) => T | undefined,
    signal: AbortSignal | undefined,
    details?: CallDetails,
  ): Promise<T> {
    const send = (token: string | undefined, trySignal: AbortSignal) =>
      new Promise<Outcome<T>>((resolve) => {
        const message = token === undefined ? data : { accessToken: token, ...data };
        const subscription = this.proxy.send(pattern, message).subscribe({
          next: (reply) => {
            const value = parse(reply);
            resolve(value === undefined ? unexpected('another body') : { value });
          },
          error: (error) => resolve(parseErrorBody(error) ?? parseNestError(error) ?? noReply(error)),
          complete: () => resolve(noReply()),
        });
        trySignal.addEventListener('abort', () => subscription.unsubscribe());
      });
    return this.sender.send({ send, ...details }, signal);
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
