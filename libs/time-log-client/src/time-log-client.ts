import {
  MAX_PAGE_SIZE,
  partKey,
  requireEntityTag,
  requireEventsOptions,
  requireKey,
  requireKeyOfParts,
  requirePageSize,
  type RetryLimits,
  type Token,
  withDefaults,
} from './arguments.js';
import { copyLogs } from './copy-logs.js';
import {
  type Export,
  exportOf,
  iterateBytes,
  iterateCsv,
  iterateLines,
  type TimeLogExport,
} from './export-logs.js';
import { type HttpResponse, parseJson } from './failure.js';
import { HttpTransport, type HttpRequest } from './http-transport.js';
import {
  eventsOf,
  type FeedReader,
  followEvents,
  iterateEventPages,
  parseEventPage,
  type TimeLogEvent,
} from './iterate-events.js';
import { iterateLogs } from './iterate-logs.js';
import { type Outcome, RetryingSender } from './retrying-sender.js';
import { splitLogs } from './split-logs.js';
import { wait } from './run-with-timeout.js';
import { type Fetch, randomId, type Runtime, RUNTIME } from './runtime.js';
import {
  type CallOptions,
  type ChangeOptions,
  type EventsOptions,
  type ListOptions,
  parametersOf,
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
/** The number of events per request. The service would queue a request for more. */
const EVENTS_PAGE_SIZE = 100;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const PATCH_TYPE = { 'Content-Type': 'application/merge-patch+json' };
/** The place of a log in a message of the service about a part of the logs. */
const INDEX_IN_PART = /(?<=\btimeLogs\[)\d+(?=\])/g;
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
    const request = this.transport.retryable({
      method: 'POST',
      path: this.path,
      headers: { ...JSON_TYPE, 'Idempotency-Key': idempotencyKey },
      body: JSON.stringify(log),
      parse: logBody(201),
    });
    const retryable = { ...request, idempotencyKey, possibleChange: POSSIBLY_RECORDED };
    return this.sender.send(retryable, signal);
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
    for (const { first, texts } of splitLogs(logs)) {
      const part = this.transport.retryable({
        method: 'POST',
        path: `${this.path}/batch`,
        headers: { ...JSON_TYPE, 'Idempotency-Key': partKey(idempotencyKey, first) },
        body: `{"timeLogs":[${texts.join(',')}]}`,
        parse: jsonBody((body) => parseLogs(body, texts.length), 201),
      });
      const request = {
        ...part,
        idempotencyKey,
        stored: first,
        possibleChange:
          'logs may have been recorded: call recordAll again with all logs and the idempotencyKey of this error',
        send: async (...sent: Parameters<typeof part.send>) =>
          withIndexesFrom(first, await part.send(...sent)),
      };
      recorded.push(...(await this.sender.send(request, signal)));
    }
    return recorded;
  }

  /** Returns the log with an id. Rejects with TimeLogError NOT_FOUND if it does not exist. */
  async get(id: string, { signal }: CallOptions = {}): Promise<RecordedTimeLog> {
    return this.send({ method: 'GET', path: this.pathOf(id), parse: logBody() }, signal);
  }

  /**
   * Replaces all values of the log with an id; without a description it becomes empty, without attributes they stay.
   * Rejects with TimeLogError NOT_FOUND if the log does not exist.
   */
  async correct(id: string, log: TimeLogCorrection, options: ChangeOptions = {}): Promise<RecordedTimeLog> {
    const request = {
      method: 'PUT',
      headers: JSON_TYPE,
      body: JSON.stringify(withoutVersion(log)),
      parse: logBody(),
    } as const;
    return this.change(id, request, 'corrected: correct it again', options);
  }

  /**
   * Changes some values of the log with an id, and keeps the others. Rejects with TimeLogError
   * NOT_FOUND if the log does not exist.
   */
  async patch(id: string, changes: TimeLogPatch, options: ChangeOptions = {}): Promise<RecordedTimeLog> {
    const body = JSON.stringify(withoutVersion(changes));
    const request = { method: 'PATCH', headers: PATCH_TYPE, body, parse: logBody() } as const;
    return this.change(id, request, 'corrected: correct it again', options);
  }

  /** Deletes the log with an id. Rejects with TimeLogError NOT_FOUND if it does not exist. */
  async delete(id: string, options: ChangeOptions = {}): Promise<void> {
    const parse = ({ status }: HttpResponse) => status === 204 || undefined;
    // An earlier try has deleted the log.
    const afterUncertainTry = (outcome: Outcome<true>): Outcome<true> =>
      'code' in outcome && outcome.code === 'NOT_FOUND' ? { value: true } : outcome;
    const request = { method: 'DELETE', parse } as const;
    await this.change(id, request, 'deleted: delete it again', options, afterUncertainTry);
  }

  list(
    filter: TimeLogFilter = {},
    { pageSize = MAX_PAGE_SIZE, signal }: ListOptions = {},
  ): AsyncGenerator<TimeLog, void, undefined> {
    requirePageSize(pageSize);
    return iterateLogs((page) => this.listPage({ ...filter, ...page }, { signal }), pageSize);
  }

  async listPage(filter: PageFilter = {}, { signal }: CallOptions = {}): Promise<TimeLogPage> {
    const path = this.path + queryOf(filter);
    return this.send({ method: 'GET', path, parse: jsonBody(parsePage) }, signal);
  }

  async totals(filter: TotalsFilter = {}, { signal }: CallOptions = {}): Promise<Totals> {
    const path = `${this.path}/totals${queryOf(filter)}`;
    return this.send({ method: 'GET', path, parse: jsonBody(parseTotals) }, signal);
  }

  /**
   * Returns all matching logs as they are at one moment: oldest day first, then in the order of
   * creation. Read them without long pauses, for which the service cuts the connection. The iteration
   * rejects if there are fewer logs than the service has announced.
   */
  async export(filter: TimeLogFilter = {}, options: CallOptions = {}): Promise<TimeLogExport> {
    const { download, parts } = await this.download(filter, 'ndjson', 'application/x-ndjson', options);
    return exportOf(iterateLines(parts, download), download);
  }

  /**
   * Returns the bytes of the export as CSV, which start with a header. The iteration rejects if there
   * are fewer logs than the service has announced.
   */
  async exportCsv(filter: TimeLogFilter = {}, options: CallOptions = {}): Promise<Export<Uint8Array>> {
    const { download, parts } = await this.download(filter, 'csv', 'text/csv', options);
    return exportOf(iterateCsv(parts, download), download);
  }

  /**
   * Fills a copy with all logs, or those of some projects, by an export, and applies later events: to
   * the end of the feed or, with `wait`, without end. Returns the next `after` at the end. With `after` it
   * continues a copy as it was at that event. If the feed no longer reaches back to it, the copy is
   * filled again, at most three times.
   */
  async copy(copy: TimeLogCopy, { after, ...options }: EventsOptions = {}): Promise<string | undefined> {
    const startExport = () => this.export({ projectId: options.projectId }, options);
    const pause = (milliseconds: number) => this.pause(milliseconds, options.signal);
    return copyLogs({ ...this.feedReader(after, options), startExport, wait: pause }, copy, after);
  }

  /**
   * Yields the events of logs, each once, in an order that never changes: to the end of the feed
   * or, with `wait`, without end. To continue later, pass the `id` of the last event as `after`.
   * Rejects with TimeLogError GONE if the feed no longer reaches back to that event: start again
   * with an empty copy.
   */
  events({ after, ...options }: EventsOptions = {}): AsyncGenerator<TimeLogEvent, void, undefined> {
    return eventsOf(iterateEventPages(this.feedReader(after, options), after));
  }

  private feedReader(
    after: string | undefined,
    { projectId, wait, pageSize = EVENTS_PAGE_SIZE, signal }: EventsOptions,
  ): FeedReader {
    requireEventsOptions(after, pageSize, wait);
    const projects = projectId === undefined ? undefined : [projectId].flat().join();
    const readPage = (lastEventId: string | undefined) => {
      const path = `${this.path}/events${queryOf({ lastEventId, limit: pageSize, projectId: projects })}`;
      return this.send({ method: 'GET', path, parse: parseEventPage }, signal);
    };
    const pause = wait === undefined ? undefined : () => this.pause(wait, signal);
    return { readPage, pageSize, pause };
  }

  /** Waits, also until the signal aborts. The next request then rejects. */
  private pause(milliseconds: number, signal: AbortSignal | undefined): Promise<unknown> {
    return wait({ milliseconds, signal }, this.schedule);
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
    const pagesAfter = (place: string | undefined) =>
      iterateEventPages(this.feedReader(place, options), place);
    return followEvents(copy, pagesAfter, after);
  }

  /** Resolves if the service is available; otherwise rejects with the reason after one try. */
  async health({ signal }: CallOptions = {}): Promise<void> {
    const parse = ({ status, text }: HttpResponse) => (status === 200 && text === 'OK') || undefined;
    await this.send({ method: 'GET', path: '/health', parse }, signal, 1);
  }

  /** Returns the path of the log with an id. Throws TypeError if the id is not a UUID. */
  private pathOf(id: string): string {
    if (!UUID.test(id)) throw new TypeError('id must be a UUID');
    return `${this.path}/${id}`;
  }

  private change<T>(
    id: string,
    request: Omit<HttpRequest<T>, 'path'>,
    change: string,
    options: ChangeOptions,
    afterUncertainTry?: (outcome: Outcome<T>) => Outcome<T>,
  ): Promise<T> {
    const { ifMatch, signal } = options;
    const isConditional = 'ifMatch' in options;
    if (isConditional) requireEntityTag(ifMatch);
    const headers = { ...request.headers, ...(isConditional && { 'If-Match': ifMatch! }) };
    const possibleChange = isConditional
      ? 'the log may have been changed: get it, since a repeat with ifMatch may be refused because of that'
      : `the log may have been ${change}`;
    const retryable = {
      ...this.transport.retryable({ ...request, path: this.pathOf(id), headers }),
      possibleChange,
      isConditional,
      ...(afterUncertainTry && { afterUncertainTry }),
    };
    return this.sender.send(retryable, signal);
  }

  private async download(
    filter: TimeLogFilter,
    format: 'csv' | 'ndjson',
    type: string,
    { signal }: CallOptions,
  ) {
    const path = `${this.path}/export${queryOf({ ...filter, format })}`;
    const request = this.transport.download(path, type);
    const download = await this.sender.send(request, signal);
    const sent = { requestId: request.requestId!, signal };
    const parts = iterateBytes(download, (read) => this.sender.receive(read, sent));
    return { download, parts };
  }

  private send<T>(request: HttpRequest<T>, signal: AbortSignal | undefined, tries?: number): Promise<T> {
    return this.sender.send(this.transport.retryable(request), signal, tries);
  }
}

/** Returns a parser of the JSON body of a response with a status. */
function jsonBody<T>(parse: (body: unknown) => T | undefined, expectedStatus = 200) {
  return ({ status, text }: HttpResponse) => (status === expectedStatus ? parse(parseJson(text)) : undefined);
}

/** Returns a parser of a log and its version. */
function logBody(expectedStatus = 200) {
  const parse = jsonBody(parseLog, expectedStatus);
  return (response: HttpResponse): RecordedTimeLog | undefined => {
    const log = parse(response);
    const etag = response.headers.get('etag');
    return log && etag !== null ? { ...log, etag } : log;
  };
}

function withoutVersion(log: TimeLogCorrection | TimeLogPatch): object {
  return { ...log, etag: undefined };
}

/** Makes the indexes of logs in the message of a failure those of all logs. */
function withIndexesFrom<T>(first: number, outcome: Outcome<T>): Outcome<T> {
  if ('value' in outcome) return outcome;
  return {
    ...outcome,
    message: outcome.message.replace(INDEX_IN_PART, (index) => `${first + Number(index)}`),
  };
}

function queryOf(filter: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parametersOf(filter))) query.set(name, String(value));
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
