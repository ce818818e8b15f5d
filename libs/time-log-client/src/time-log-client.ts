import {
  partKey,
  requireEntityTag,
  requireEventsOptions,
  requireKey,
  requireKeyOfParts,
  type RetryLimits,
  type Token,
  withDefaults,
} from './arguments.js';
import { copyLogs } from './copy-logs.js';
import { type Export, exportOf, readCsv, readLogs, type TimeLogExport } from './export-logs.js';
import { type HttpRequest, HttpTransport } from './http-transport.js';
import {
  type FeedReader,
  followEvents,
  iterateEvents,
  parseEventPage,
  type TimeLogEvent,
} from './iterate-events.js';
import { listLogs } from './iterate-logs.js';
import { type RetryableRequest, RetryingSender } from './retrying-sender.js';
import { splitLogs } from './split-logs.js';
import { wait as delay, type Fetch, randomId, type Runtime, RUNTIME } from './run-with-timeout.js';
import {
  type CallOptions,
  type ChangeOptions,
  type EventsOptions,
  type ListOptions,
  parseLog,
  parseLogs,
  POSSIBLY_RECORDED,
  type NewTimeLog,
  type PageFilter,
  parsePage,
  type RecordedTimeLog,
  type RecordOptions,
  type TimeLog,
  type TimeLogCopy,
  type TimeLogFilter,
  type TimeLogPage,
  type TimeLogCorrection,
  type TimeLogPatch,
  type TimeLogs,
  type Totals,
  type TotalsFilter,
  parseTotals,
} from './time-logs.js';

/** The path of time logs in the service. */
const DEFAULT_PATH = '/api/v1/time-logs';
const POSSIBLY_RECORDED_ALL =
  'logs may have been recorded: call recordAll again with all logs and the idempotencyKey of this error';
/** The number of events per request. The service would queue a request for more. */
const EVENTS_PAGE_SIZE = 100;
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
 * connection fails or the service is overloaded or unavailable, if that is safe. A call that fails
 * rejects with TimeLogError.
 */
export class TimeLogClient implements TimeLogs {
  private readonly transport: HttpTransport;
  private readonly path: string;
  private readonly sender: RetryingSender;
  private readonly schedule: Runtime['schedule'];

  /** Throws TypeError if an option is invalid. */
  constructor(options: TimeLogClientOptions, runtime: Runtime = RUNTIME) {
    const { token, fetch = runtime.fetch } = options;
    this.schedule = runtime.schedule;
    this.path = parsePath(options.path ?? DEFAULT_PATH);
    this.transport = new HttpTransport(parseBaseUrls(options.baseUrl), { ...runtime, fetch });
    this.sender = new RetryingSender({ token, ...withDefaults(options) }, runtime);
  }

  async record(
    log: NewTimeLog,
    { idempotencyKey = randomId(), signal }: RecordOptions = {},
  ): Promise<RecordedTimeLog> {
    requireKey(idempotencyKey);
    const headers = { 'Idempotency-Key': idempotencyKey };
    const request = { method: 'POST', path: this.path, headers, body: log, parse: parseLog } as const;
    return this.send(request, signal, { idempotencyKey, possibleChange: POSSIBLY_RECORDED });
  }

  /**
   * Records logs, each exactly once, and returns them in the same order. A request has at most 1000
   * logs and 1 MB, and is stored as a whole or not at all. If the call fails, `stored` of the
   * TimeLogError is the number of logs that are stored; to continue, call `recordAll` again with all
   * logs and the `idempotencyKey` of the error.
   */
  async recordAll(
    logs: readonly NewTimeLog[],
    { idempotencyKey = randomId(), signal }: RecordOptions = {},
  ): Promise<RecordedTimeLog[]> {
    requireKeyOfParts(idempotencyKey, logs);
    const recorded: RecordedTimeLog[] = [];
    for (const { first, part } of splitLogs(logs)) {
      const request = {
        method: 'POST',
        path: `${this.path}/batch`,
        headers: { 'Idempotency-Key': partKey(idempotencyKey, first) },
        body: { timeLogs: part },
        parse: (answer: unknown) => parseLogs(answer, part.length),
      } as const;
      const stored = { stored: first, idempotencyKey, possibleChange: POSSIBLY_RECORDED_ALL };
      recorded.push(...(await this.send(request, signal, stored)));
    }
    return recorded;
  }

  /** Returns the log with an id. Rejects with TimeLogError NOT_FOUND if it does not exist. */
  async get(id: string, { signal }: CallOptions = {}): Promise<RecordedTimeLog> {
    return this.send({ method: 'GET', path: this.pathOf(id), parse: parseLog }, signal);
  }

  /**
   * Replaces all values of the log with an id; without a description it becomes empty, without attributes they stay.
   * Rejects with TimeLogError NOT_FOUND if the log does not exist.
   */
  async correct(id: string, log: TimeLogCorrection, options: ChangeOptions = {}): Promise<RecordedTimeLog> {
    const request = { method: 'PUT', body: withoutVersion(log), parse: parseLog } as const;
    return this.change(id, request, options, 'corrected: correct it again');
  }

  /**
   * Changes some values of the log with an id, and keeps the others. Rejects with TimeLogError
   * NOT_FOUND if the log does not exist.
   */
  async patch(id: string, changes: TimeLogPatch, options: ChangeOptions = {}): Promise<RecordedTimeLog> {
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    const request = { method: 'PATCH', headers, body: withoutVersion(changes), parse: parseLog } as const;
    return this.change(id, request, options, 'corrected: correct it again');
  }

  /** Deletes the log with an id. Rejects with TimeLogError NOT_FOUND if it does not exist. */
  async delete(id: string, options: ChangeOptions = {}): Promise<void> {
    const request = { method: 'DELETE', parse: () => true } as const;
    await this.change(id, request, options, 'deleted: delete it again', { missing: true });
  }

  list(
    filter: TimeLogFilter = {},
    { pageSize, signal }: ListOptions = {},
  ): AsyncGenerator<TimeLog, void, undefined> {
    return listLogs((page) => this.listPage({ ...filter, ...page }, { signal }), pageSize);
  }

  async listPage(filter: PageFilter = {}, { signal }: CallOptions = {}): Promise<TimeLogPage> {
    return this.send({ method: 'GET', path: this.path, query: filter, parse: parsePage }, signal);
  }

  async totals(filter: TotalsFilter = {}, { signal }: CallOptions = {}): Promise<Totals> {
    const path = `${this.path}/totals`;
    return this.send({ method: 'GET', path, query: filter, parse: parseTotals }, signal);
  }

  /**
   * Returns all matching logs as they are at one moment: oldest day first, then in the order of
   * creation. Read them without long pauses, for which the service cuts the connection. The iteration
   * rejects if there are fewer logs than the service has announced.
   */
  async export(filter: TimeLogFilter = {}, options: CallOptions = {}): Promise<TimeLogExport> {
    const { response, receive } = await this.download(filter, 'ndjson', 'application/x-ndjson', options);
    return exportOf(response, receive, readLogs);
  }

  /**
   * Returns the bytes of the export as CSV, which start with a header. The iteration rejects if there
   * are fewer logs than the service has announced.
   */
  async exportCsv(filter: TimeLogFilter = {}, options: CallOptions = {}): Promise<Export<Uint8Array>> {
    const { response, receive } = await this.download(filter, 'csv', 'text/csv', options);
    return exportOf(response, receive, readCsv);
  }

  /**
   * Fills a copy with all logs, or those of some projects, by an export, and applies later events: to
   * the end of the feed or, with `wait`, without end. Returns the next `after` at the end. With `after` it
   * continues a copy as it was at that event. If the feed no longer reaches back to it, the copy is
   * filled again, at most three times.
   */
  async copy(copy: TimeLogCopy, { after, ...options }: EventsOptions = {}): Promise<string | undefined> {
    const startExport = () => this.export({ projectId: options.projectId }, options);
    return copyLogs(this.feedReader(after, options), startExport, copy, after);
  }

  /**
   * Yields the events of logs, each once, in an order that never changes: to the end of the feed
   * or, with `wait`, without end. To continue later, pass the `id` of the last event as `after`.
   * Rejects with TimeLogError GONE if the feed no longer reaches back to that event: start again
   * with an empty copy.
   */
  events({ after, ...options }: EventsOptions = {}): AsyncGenerator<TimeLogEvent, void, undefined> {
    return iterateEvents(this.feedReader(after, options), after);
  }

  private feedReader(
    after: string | undefined,
    { projectId, wait, pageSize = EVENTS_PAGE_SIZE, signal }: EventsOptions,
  ): FeedReader {
    requireEventsOptions(after, pageSize, wait);
    const readPage = (lastEventId: string | undefined) => {
      const query = { lastEventId, limit: pageSize, projectId };
      return this.send({ method: 'GET', path: `${this.path}/events`, query, parse: parseEventPage }, signal);
    };
    const pause = (milliseconds: number) => delay({ milliseconds, signal }, this.schedule);
    return { readPage, pageSize, wait, pause };
  }

  /**
   * Applies the events to a copy of the logs by id, and then yields each. A copy that is empty at
   * first has all logs of the service at the end of the feed, or those of the projects. Pass `after`
   * only with the copy as it was at that event. If the feed no longer reaches back to it, the copy is
   * emptied and filled again.
   */
  follow(
    copy: Map<string, RecordedTimeLog>,
    { after, ...options }: EventsOptions = {},
  ): AsyncGenerator<TimeLogEvent, void, undefined> {
    return followEvents(this.feedReader(after, options), copy, after);
  }

  /** Resolves if the service is available; otherwise rejects with the reason after one try. */
  async health({ signal }: CallOptions = {}): Promise<void> {
    const parse = (body: unknown) => body === 'OK' || undefined;
    const request = this.transport.retryable({ method: 'GET', path: '/health', parse });
    await this.sender.send(request, signal, 1);
  }

  /** Returns the path of the log with an id. Throws TypeError if the id is not a UUID. */
  private pathOf(id: string): string {
    if (!UUID.test(id)) throw new TypeError('id must be a UUID');
    return `${this.path}/${id}`;
  }

  private change<T>(
    id: string,
    request: Omit<HttpRequest<T>, 'path'>,
    options: ChangeOptions,
    change: string,
    more: Pick<RetryableRequest<T>, 'missing'> = {},
  ): Promise<T> {
    const { ifMatch, signal } = options;
    const isConditional = 'ifMatch' in options;
    if (isConditional) requireEntityTag(ifMatch);
    const headers = { ...request.headers, ...(isConditional && { 'If-Match': ifMatch! }) };
    const possibleChange = isConditional
      ? 'the log may have been changed: get it, since a repeat with ifMatch may be refused because of that'
      : `the log may have been ${change}`;
    const path = this.pathOf(id);
    return this.send({ ...request, path, headers }, signal, { possibleChange, isConditional, ...more });
  }

  private async download(
    filter: TimeLogFilter,
    format: 'csv' | 'ndjson',
    streamType: string,
    { signal }: CallOptions,
  ) {
    const { requestId, send } = this.transport.retryable({
      method: 'GET',
      path: `${this.path}/export`,
      query: { ...filter, format },
      streamType,
      parse: (body, response) => (body === undefined ? response : undefined),
    });
    const response = await this.sender.send({ requestId, send }, signal);
    const receive = <T>(read: () => Promise<T>) => this.sender.receive(read, { requestId, signal });
    return { response, receive };
  }

  private send<T>(
    request: HttpRequest<T>,
    signal: AbortSignal | undefined,
    more?: Partial<RetryableRequest<T>>,
  ): Promise<T> {
    return this.sender.send({ ...this.transport.retryable(request), ...more }, signal);
  }
}

function withoutVersion(log: TimeLogCorrection | TimeLogPatch): object {
  return { ...log, etag: undefined };
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
  if (!/^https?:$/.test(protocol) || href !== origin + pathname)
    throw new TypeError('baseUrl must be an absolute http or https URL, such as https://time-logs.example');
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
