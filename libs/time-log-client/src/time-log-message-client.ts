import { type Failure, refusalIn } from './answer.js';
import {
  type Endurance,
  enduranceOf,
  MOST_PAGE,
  requireKey,
  requirePageSize,
  type Token,
} from './arguments.js';
import { everyLog } from './every-log.js';
import { type Outcome, RetryingSender } from './retrying-sender.js';
import { randomId, type Runtime, RUNTIME } from './runtime.js';
import {
  type CallOptions,
  type ListOptions,
  logIn,
  MAY_BE_RECORDED,
  type NewTimeLog,
  type PageFilter,
  pageIn,
  type RecordedTimeLog,
  type RecordOptions,
  type TimeLog,
  type TimeLogFilter,
  type TimeLogPage,
  type TimeLogs,
  type Totals,
  type TotalsFilter,
  totalsIn,
} from './time-logs.js';

/** What is used of a ClientProxy of @nestjs/microservices, 11 or 12. */
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

/** Over what messages go, who asks, and how long a call goes on trying. */
export interface TimeLogMessageClientOptions extends Endurance {
  /**
   * The ClientProxy of the transport, with the queue `time-logs` on RabbitMQ. It connects and closes as you tell it.
   */
  readonly proxy: MessageProxy;
  /**
   * The access token, or a function that returns the current one; it is called once for each call. Leave it out where
   * the receiver knows its callers otherwise.
   */
  readonly token?: Token;
}

/** A message, and the answers that are a success. */
interface Message<T> {
  readonly pattern: string;
  readonly data: object;
  readonly read: (answer: unknown) => T | undefined;
}

/**
 * Records and lists time logs over a transport of Nest. Repeats a message where that is safe and no answer comes or the
 * service is overloaded. A call that fails rejects with TimeLogError.
 */
export class TimeLogMessageClient implements TimeLogs {
  private readonly proxy: MessageProxy;
  private readonly sender: RetryingSender;
  private readonly tries: number;

  /** Throws TypeError for options that cannot work. */
  constructor(options: TimeLogMessageClientOptions, runtime: Omit<Runtime, 'fetch'> = RUNTIME) {
    const { tries, ...limits } = enduranceOf(options);
    this.proxy = options.proxy;
    this.tries = tries;
    this.sender = new RetryingSender({ token: options.token, ...limits }, runtime);
  }

  /** Records a log: exactly one, however often the message is sent. */
  async record(
    timeLog: NewTimeLog,
    { idempotencyKey = randomId(), signal }: RecordOptions = {},
  ): Promise<RecordedTimeLog> {
    requireKey(idempotencyKey);
    const message = { pattern: 'time-log.record.v1', data: { idempotencyKey, timeLog }, read: logIn };
    return this.call(message, { idempotencyKey, signal });
  }

  /**
   * Yields all logs that match, in the order of the list, each once, while others are recorded. Those may be among
   * them. Goes on with smaller pages where the transport takes none of this size. Rejects with TimeLogError
   * LIST_CHANGED where the last yielded log is deleted meanwhile.
   */
  list(
    filter: TimeLogFilter = {},
    { pageSize = MOST_PAGE, signal }: ListOptions = {},
  ): AsyncGenerator<TimeLog, void, undefined> {
    requirePageSize(pageSize);
    return everyLog((page) => this.listPage({ ...filter, ...page }, { signal }), pageSize);
  }

  /** One page of the logs that match, and the number of all that match. */
  listPage(filter: PageFilter = {}, { signal }: CallOptions = {}): Promise<TimeLogPage> {
    const data = { query: given(filter) };
    return this.call({ pattern: 'time-log.list.v1', data, read: pageIn }, { signal });
  }

  /** How many logs match and the sum of their durations, of all and, with `by`, of each group of a page. */
  totals(filter: TotalsFilter = {}, { signal }: CallOptions = {}): Promise<Totals> {
    const data = { query: given(filter) };
    return this.call({ pattern: 'time-log.totals.v1', data, read: totalsIn }, { signal });
  }

  private call<T>(
    message: Message<T>,
    {
      idempotencyKey,
      signal,
    }: { readonly idempotencyKey?: string; readonly signal: AbortSignal | undefined },
  ): Promise<T> {
    const call = {
      send: (token: string | undefined, ended: AbortSignal) => this.send(message, token, ended),
      ...(idempotencyKey !== undefined && { idempotencyKey, mayHaveBeen: MAY_BE_RECORDED }),
    };
    return this.sender.call(call, { tries: this.tries, signal });
  }

  private send<T>(
    { pattern, data, read }: Message<T>,
    token: string | undefined,
    signal: AbortSignal,
  ): Promise<Outcome<T>> {
    const message = token === undefined ? data : { accessToken: token, ...data };
    return new Promise((resolve) => {
      const subscription = this.proxy.send(pattern, message).subscribe({
        next: (answer) => {
          const value = read(answer);
          resolve(value === undefined ? foreign('a body of another kind') : { value });
        },
        error: (error) => resolve(refusalIn(error) ?? foreignRefusal(error) ?? noAnswer(error)),
        complete: () => resolve(noAnswer()),
      });
      signal.addEventListener('abort', () => subscription.unsubscribe());
    });
  }
}

function given(filter: object): object {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}

/** What Nest answers by itself where a handler is missing or fails; undefined for what a transport throws. */
function foreignRefusal(error: unknown): Failure | undefined {
  // Some errors of transports are texts too.
  if (typeof error === 'string') return error.startsWith('Error: ') ? undefined : foreign(error);
  const { status, message } = (error ?? {}) as { readonly status?: unknown; readonly message?: unknown };
  return status === 'error' && typeof message === 'string' ? foreign(message) : undefined;
}

function foreign(what: string): Failure {
  const message = `the answer is not the service's (${what}): see whether it takes messages on this transport`;
  return { code: 'UNEXPECTED_ANSWER', message };
}

function noAnswer(cause?: unknown): Failure {
  return { code: 'NO_ANSWER', message: 'the connection failed', cause };
}
