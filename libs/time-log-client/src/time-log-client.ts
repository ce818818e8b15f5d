import {
  MAX_PAGE_SIZE,
  requireEventsOptions,
  requireKey,
  requirePageSize,
  type RetryLimits,
  type Token,
  withDefaults,
} from './arguments.js';
import { type HttpResponse, parseJson } from './failure.js';
import { HttpTransport, type HttpRequest } from './http-transport.js';
import { followEvents, iterateEvents, parseEvents, type TimeLogEvent } from './iterate-events.js';
import { iterateLogs } from './iterate-logs.js';
import { type Outcome, RetryingSender } from './retrying-sender.js';
import { runWithTimeout } from './run-with-timeout.js';
import { type Fetch, randomId, type Runtime, RUNTIME } from './runtime.js';
import {
  type CallOptions,
  type EventsOptions,
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
  type Totals,
  type TotalsFilter,
  parseTotals,
} from './time-logs.js';

/** The path of time logs in the service. */
const DEFAULT_PATH = '/api/v1/time-logs';
/** The number of events per request. The service would queue a request for more. */
const EVENTS_PAGE_SIZE = 100;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The address of the service, the token, and the limits of tries. */
export interface TimeLogClientOptions extends RetryLimits {
  /**
   * The address of the service: an absolute http or https URL, with or without a path. It may be an
   * array: if the connection to one address fails, the next try uses the next one.
   */
  readonly baseUrl: string | readonly string[];
  /** The path of time logs in a host application (`/api/v1/time-logs`). */
  readonly path?: string;
  /** The access token, or a function that returns the current one. It is called once per call. */
  readonly token: Token;
  /** A replacement of the global fetch. */
  readonly fetch?: Fetch;
}

/**
 * Records, lists and corrects time logs over HTTP, in browsers and Node. Repeats requests if the
 * connection fails or the service is overloaded or unavailable, which is safe for all of them. A
 * call that fails rejects with TimeLogError.
 */
export class TimeLogClient implements TimeLogs {
  private readonly transport: HttpTransport;
  private readonly path: string;
  private readonly sender: RetryingSender;
  private readonly tries: number;
  private readonly schedule: Runtime['schedule'];

  /** Throws TypeError if an option is invalid. */
  constructor(options: TimeLogClientOptions, runtime: Runtime = RUNTIME) {
    const { token, fetch = runtime.fetch } = options;
    const { tries, ...limits } = withDefaults(options);
    this.tries = tries;
    this.schedule = runtime.schedule;
    this.path = parsePath(options.path ?? DEFAULT_PATH);
    this.transport = new HttpTransport(parseBaseUrls(options.baseUrl), { ...runtime, fetch });
    this.sender = new RetryingSender({ token, ...limits }, runtime);
  }

  /** Records exactly one log, even if the request is sent several times. */
  async record(
    log: NewTimeLog,
    { idempotencyKey = randomId(), signal }: RecordOptions = {},
  ): Promise<RecordedTimeLog> {
    requireKey(idempotencyKey);
    const request = this.transport.retryable({
      method: 'POST',
      path: this.path,
      headers: { ...JSON_TYPE, 'Idempotency-Key': idempotencyKey },
      body: JSON.stringify(log),
      parse: jsonBody(parseLog, 201),
    });
    const retryable = { ...request, idempotencyKey, possibleChange: POSSIBLY_RECORDED };
    return this.sender.send(retryable, { tries: this.tries, signal });
  }

  /** Returns the log with an id. Rejects with TimeLogError NOT_FOUND if it does not exist. */
  async get(id: string, { signal }: CallOptions = {}): Promise<RecordedTimeLog> {
    return this.send({ method: 'GET', path: this.pathOf(id), parse: jsonBody(parseLog) }, this.tries, signal);
  }

  /**
   * Replaces all values of the log with an id; without a description it becomes empty. Rejects with
   * TimeLogError NOT_FOUND if the log does not exist.
   */
  async correct(id: string, log: NewTimeLog, { signal }: CallOptions = {}): Promise<RecordedTimeLog> {
    const request = this.transport.retryable({
      method: 'PUT',
      path: this.pathOf(id),
      headers: JSON_TYPE,
      body: JSON.stringify(log),
      parse: jsonBody(parseLog),
    });
    return this.sender.send(
      { ...request, possibleChange: 'corrected: correct it again' },
      { tries: this.tries, signal },
    );
  }

  /** Deletes the log with an id. Rejects with TimeLogError NOT_FOUND if it does not exist. */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    const request = this.transport.retryable({
      method: 'DELETE',
      path: this.pathOf(id),
      parse: ({ status }) => (status === 204 ? true : undefined),
    });
    // An earlier try has deleted the log.
    const afterUncertainTry = (outcome: Outcome<true>): Outcome<true> =>
      'code' in outcome && outcome.code === 'NOT_FOUND' ? { value: true } : outcome;
    const retryable = { ...request, possibleChange: 'deleted: delete it again', afterUncertainTry };
    await this.sender.send(retryable, { tries: this.tries, signal });
  }

  /**
   * Yields all matching logs in the order of the list, each once. Logs that are recorded meanwhile
   * may be included. Rejects with TimeLogError LIST_CHANGED if the last yielded log was deleted.
   */
  list(
    filter: TimeLogFilter = {},
    { pageSize = MAX_PAGE_SIZE, signal }: ListOptions = {},
  ): AsyncGenerator<TimeLog, void, undefined> {
    requirePageSize(pageSize);
    return iterateLogs((page) => this.listPage({ ...filter, ...page }, { signal }), pageSize);
  }

  /** Returns a page of the matching logs, and the number of all. */
  listPage(filter: PageFilter = {}, { signal }: CallOptions = {}): Promise<TimeLogPage> {
    const path = this.path + queryOf(filter);
    return this.send({ method: 'GET', path, parse: jsonBody(parsePage) }, this.tries, signal);
  }

  /** Returns the number of matching logs and the sum of their durations; with `by`, per group. */
  totals(filter: TotalsFilter = {}, { signal }: CallOptions = {}): Promise<Totals> {
    const path = `${this.path}/totals${queryOf(filter)}`;
    return this.send({ method: 'GET', path, parse: jsonBody(parseTotals) }, this.tries, signal);
  }

  /**
   * Yields the events of logs, each once, in an order that never changes: to the end of the feed
   * or, with `wait`, without end. To continue later, pass the `id` of the last event as `after`.
   * Rejects with TimeLogError GONE if the feed no longer reaches back to that event: start again
   * with an empty copy.
   */
  events({ after, wait, pageSize = EVENTS_PAGE_SIZE, signal }: EventsOptions = {}): AsyncGenerator<
    TimeLogEvent,
    void,
    undefined
  > {
    requireEventsOptions(after, pageSize, wait);
    const readPage = (lastEventId: string | undefined) => {
      const path = `${this.path}/events${queryOf({ lastEventId, limit: pageSize })}`;
      return this.send({ method: 'GET', path, parse: jsonBody(parseEvents) }, this.tries, signal);
    };
    const never = () => new Promise<never>(() => undefined);
    // An abort ends the pause, too. The next request then rejects.
    const pause =
      wait === undefined
        ? undefined
        : () => runWithTimeout(never, { milliseconds: wait, signal }, this.schedule);
    return iterateEvents({ readPage, pageSize, pause }, after);
  }

  /**
   * Applies the events to a copy of the logs by id, and then yields each. A copy that is empty at
   * first has all logs of the service at the end of the feed. Pass `after` only with the copy as it
   * was at that event. If the feed no longer reaches back to it, the copy is emptied and filled
   * again.
   */
  follow(
    copy: Map<string, RecordedTimeLog>,
    { after, ...options }: EventsOptions = {},
  ): AsyncGenerator<TimeLogEvent, void, undefined> {
    const eventsAfter = (last: string | undefined) => this.events({ ...options, after: last });
    return followEvents(copy, eventsAfter, after);
  }

  /** Resolves if the service is available; otherwise rejects with the reason after one try. */
  async health({ signal }: CallOptions = {}): Promise<void> {
    await this.send({ method: 'GET', path: '/health', parse: parseHealth }, 1, signal);
  }

  /** Returns the path of the log with an id. Throws TypeError if the id is not a UUID. */
  private pathOf(id: string): string {
    if (!UUID.test(id)) throw new TypeError('id must be a UUID');
    return `${this.path}/${id}`;
  }

  private send<T>(request: HttpRequest<T>, tries: number, signal: AbortSignal | undefined): Promise<T> {
    return this.sender.send(this.transport.retryable(request), { tries, signal });
  }
}

/** Returns a parser of the JSON body of a response with a status. */
function jsonBody<T>(parse: (body: unknown) => T | undefined, expectedStatus = 200) {
  return ({ status, text }: HttpResponse) => (status === expectedStatus ? parse(parseJson(text)) : undefined);
}

function parseHealth({ status, text }: HttpResponse): true | undefined {
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

/** Returns the URLs to which the paths of the service are appended. */
function parseBaseUrls(baseUrl: string | readonly string[]): string[] {
  const urls = [baseUrl].flat().map(parseBaseUrl);
  if (urls.length === 0) throw new TypeError('baseUrl must have at least one address');
  return urls;
}

function parseBaseUrl(baseUrl: string): string {
  const { protocol, origin, pathname, href } = new URL(URL.canParse(baseUrl) ? baseUrl : 'about:blank');
  // A query, fragment or password would be lost.
  if (!/^https?:$/.test(protocol) || href !== origin + pathname) {
    throw new TypeError('baseUrl must be an absolute http or https URL, such as https://time-logs.example');
  }
  return href.replace(/\/+$/, '');
}

/** Returns the path to which the ids of logs are appended. */
function parsePath(path: string): string {
  const base = 'http://localhost';
  // A query or fragment would include what is appended.
  if (!URL.canParse(path, base) || new URL(path, base).pathname !== path)
    throw new TypeError(`path must be an absolute path, such as ${DEFAULT_PATH}`);
  return path.replace(/\/+$/, '');
}
