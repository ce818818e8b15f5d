import { type Answer, parsed } from './answer.js';
import {
  type Endurance,
  enduranceOf,
  MOST_PAGE,
  requireKey,
  requirePageSize,
  requirePlaceInFeed,
  type Token,
} from './arguments.js';
import { everyChange, everyEvent, eventsIn, type TimeLogEvent } from './every-event.js';
import { everyLog } from './every-log.js';
import { HttpExchange, type HttpRequest } from './http-exchange.js';
import { type Outcome, RetryingSender } from './retrying-sender.js';
import { type Fetch, randomId, type Runtime, RUNTIME } from './runtime.js';
import {
  type CallOptions,
  type EventsOptions,
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
import { within } from './within.js';

/** Where the service has its time logs. */
const PATH = '/api/v1/time-logs';
/** How many events are asked for at a time: more would wait their turn in the service. */
const EVENT_PAGE = 100;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Where the service is, who asks, and how long a call goes on trying. */
export interface TimeLogClientOptions extends Endurance {
  /**
   * The address of the service: an absolute http or https URL, with or without a path. Or several: where the connection
   * to one fails, the next try goes to the next.
   */
  readonly baseUrl: string | readonly string[];
  /** The path of time logs below it: `/api/v1/time-logs` unless a host of the module has them elsewhere. */
  readonly path?: string;
  /** The access token, or a function that returns the current one; it is called once for each call. */
  readonly token: Token;
  /** Used instead of the global fetch. */
  readonly fetch?: Fetch;
}

/**
 * Records, lists and corrects time logs over HTTP, in browsers and in Node. Repeats a request where that is safe and
 * the connection fails or the service is overloaded or away. A call that fails rejects with TimeLogError.
 */
export class TimeLogClient implements TimeLogs {
  private readonly exchange: HttpExchange;
  private readonly path: string;
  private readonly sender: RetryingSender;
  private readonly tries: number;
  private readonly schedule: Runtime['schedule'];

  /** Throws TypeError for options that cannot work. */
  constructor(options: TimeLogClientOptions, runtime: Runtime = RUNTIME) {
    const { token, fetch = runtime.fetch } = options;
    const { tries, ...limits } = enduranceOf(options);
    this.tries = tries;
    this.schedule = runtime.schedule;
    this.path = pathFrom(options.path ?? PATH);
    this.exchange = new HttpExchange(rootsOf(options.baseUrl), { ...runtime, fetch });
    this.sender = new RetryingSender({ token, ...limits }, runtime);
  }

  /** Records a log: exactly one, however often the request is sent. */
  async record(
    log: NewTimeLog,
    { idempotencyKey = randomId(), signal }: RecordOptions = {},
  ): Promise<RecordedTimeLog> {
    requireKey(idempotencyKey);
    const call = this.exchange.callOf({
      method: 'POST',
      path: this.path,
      headers: { ...JSON_TYPE, 'Idempotency-Key': idempotencyKey },
      body: JSON.stringify(log),
      read: bodyOf(logIn, 201),
    });
    const sending = { ...call, idempotencyKey, mayHaveBeen: MAY_BE_RECORDED };
    return this.sender.call(sending, { tries: this.tries, signal });
  }

  /** The log with an id. Rejects with TimeLogError NOT_FOUND where there is none. */
  async get(id: string, { signal }: CallOptions = {}): Promise<RecordedTimeLog> {
    return this.read({ method: 'GET', path: this.pathOf(id), read: bodyOf(logIn) }, this.tries, signal);
  }

  /**
   * Gives the log with an id other values, all of them: without a description it becomes empty. Rejects with
   * TimeLogError NOT_FOUND where there is none.
   */
  async correct(id: string, log: NewTimeLog, { signal }: CallOptions = {}): Promise<RecordedTimeLog> {
    const call = this.exchange.callOf({
      method: 'PUT',
      path: this.pathOf(id),
      headers: JSON_TYPE,
      body: JSON.stringify(log),
      read: bodyOf(logIn),
    });
    return this.sender.call(
      { ...call, mayHaveBeen: 'corrected: correct it again' },
      { tries: this.tries, signal },
    );
  }

  /** Removes the log with an id. Rejects with TimeLogError NOT_FOUND where there is none. */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    const call = this.exchange.callOf({
      method: 'DELETE',
      path: this.pathOf(id),
      read: ({ status }) => (status === 204 ? true : undefined),
    });
    // An earlier try has removed it.
    const again = (outcome: Outcome<true>): Outcome<true> =>
      'code' in outcome && outcome.code === 'NOT_FOUND' ? { value: true } : outcome;
    const sending = { ...call, mayHaveBeen: 'deleted: delete it again', again };
    await this.sender.call(sending, { tries: this.tries, signal });
  }

  /**
   * Yields all logs that match, in the order of the list, each once, while others are recorded. Those may be among
   * them. Rejects with TimeLogError LIST_CHANGED where the last yielded log is deleted meanwhile.
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
    const path = this.path + queryOf(filter);
    return this.read({ method: 'GET', path, read: bodyOf(pageIn) }, this.tries, signal);
  }

  /** How many logs match and the sum of their durations, of all and, with `by`, of each group of a page. */
  totals(filter: TotalsFilter = {}, { signal }: CallOptions = {}): Promise<Totals> {
    const path = `${this.path}/totals${queryOf(filter)}`;
    return this.read({ method: 'GET', path, read: bodyOf(totalsIn) }, this.tries, signal);
  }

  /**
   * Yields what happened to logs, each event once, in an order that never changes: to the end, or for ever where `wait`
   * is given. Leave the loop, and take it up again with the `id` of the last event as `after`. Rejects with
   * TimeLogError GONE where the feed no longer reaches back to it: begin anew with an empty copy.
   */
  events({ after, wait, pageSize = EVENT_PAGE, signal }: EventsOptions = {}): AsyncGenerator<
    TimeLogEvent,
    void,
    undefined
  > {
    requirePlaceInFeed(after, pageSize, wait);
    const readPage = (lastEventId: string | undefined) => {
      const path = `${this.path}/events${queryOf({ lastEventId, limit: pageSize })}`;
      return this.read({ method: 'GET', path, read: bodyOf(eventsIn) }, this.tries, signal);
    };
    const nothing = () => new Promise<never>(() => undefined);
    // An abort ends the pause too; the next call rejects with it.
    const pause =
      wait === undefined ? undefined : () => within(nothing, { milliseconds: wait, signal }, this.schedule);
    return everyEvent({ readPage, pageSize, pause }, after);
  }

  /**
   * The same for a copy of the logs, by their ids: an event is yielded when it was applied. Empty at first, it has
   * every log of the service at the end of the feed. Give `after` only with a copy that is as it was at that event.
   * Where the feed no longer reaches back to it, the copy is emptied and filled anew.
   */
  follow(
    copy: Map<string, RecordedTimeLog>,
    { after, ...options }: EventsOptions = {},
  ): AsyncGenerator<TimeLogEvent, void, undefined> {
    const eventsAfter = (last: string | undefined) => this.events({ ...options, after: last });
    return everyChange(copy, eventsAfter, after);
  }

  /** Resolves where the service is available now. Else rejects with the reason, after one try. */
  async health({ signal }: CallOptions = {}): Promise<void> {
    await this.read({ method: 'GET', path: '/health', read: healthIn }, 1, signal);
  }

  /** The path of the log with an id. Throws TypeError where that is none. */
  private pathOf(id: string): string {
    if (!UUID.test(id)) throw new TypeError('id must be a UUID');
    return `${this.path}/${id}`;
  }

  private read<T>(request: HttpRequest<T>, tries: number, signal: AbortSignal | undefined): Promise<T> {
    return this.sender.call(this.exchange.callOf(request), { tries, signal });
  }
}

/** Reads what is in the JSON of an answer with this status; undefined of any other answer. */
function bodyOf<T>(valueIn: (body: unknown) => T | undefined, expected = 200) {
  return ({ status, text }: Answer) => (status === expected ? valueIn(parsed(text)) : undefined);
}

function healthIn({ status, text }: Answer): true | undefined {
  return status === 200 && text === 'OK' ? true : undefined;
}

function queryOf(filter: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** The URLs to which the paths of the service are appended. */
function rootsOf(baseUrl: string | readonly string[]): string[] {
  const roots = [baseUrl].flat().map(rootOf);
  if (roots.length === 0) throw new TypeError('baseUrl must name an address');
  return roots;
}

function rootOf(baseUrl: string): string {
  const { protocol, origin, pathname, href } = new URL(URL.canParse(baseUrl) ? baseUrl : 'about:blank');
  // Query, fragment and password would get lost.
  if (!/^https?:$/.test(protocol) || href !== origin + pathname) {
    throw new TypeError('baseUrl must be an absolute http or https URL, such as https://time-logs.example');
  }
  return href.replace(/\/+$/, '');
}

/** A path to which those of single logs are appended. */
function pathFrom(path: string): string {
  const base = 'http://localhost';
  // Query and fragment would swallow what follows.
  if (!URL.canParse(path, base) || new URL(path, base).pathname !== path)
    throw new TypeError(`path must be an absolute path, such as ${PATH}`);
  return path.replace(/\/+$/, '');
}
