import { type Answer, parsed } from './answer.js';
import { RetryingSender } from './retrying-sender.js';
import { everyLog } from './every-log.js';
import type { components, operations } from './openapi.js';
import { type Fetch, randomId, type Runtime, RUNTIME } from './runtime.js';

const TIME_LOGS = '/api/v1/time-logs';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const KEY = /^(?! )[\x20-\x7e]{1,255}(?<! )$/;
/** The longest time that timers of browsers and Node take. */
const LONGEST_TIME = 2 ** 31 - 1;
/** Logs of a page: the least with which everyLog is sure to get on, and the most that the service allows. */
const LEAST_PAGE = 50;
const MOST_PAGE = 1_000;

type Schemas = components['schemas'];
type ListQuery = NonNullable<operations['listTimeLogs']['parameters']['query']>;

/** The values of a log to record. */
export type NewTimeLog = Schemas['NewTimeLog'];
/** A log as the service answers it to whoever recorded it. */
export type RecordedTimeLog = Schemas['RecordedTimeLog'];
/** A log in a list. */
export type TimeLog = Schemas['TimeLog'];
/** One page. `data` holds its logs; `meta.total` counts those of all pages. */
export type TimeLogPage = Omit<Schemas['TimeLogList'], 'success'>;
/** Which page to list, of which logs. */
export type PageFilter = { readonly [Name in keyof ListQuery]: ListQuery[Name] | undefined };
/** Which logs to list. */
export type TimeLogFilter = Omit<PageFilter, 'page' | 'limit'>;

export interface TimeLogClientOptions {
  /** The address of the service: an absolute http or https URL, with or without a path. */
  readonly baseUrl: string;
  /** The access token, or a function that returns the current one; it is called once for each call. */
  readonly token: string | (() => string | Promise<string>);
  /** Used instead of the global fetch. */
  readonly fetch?: Fetch;
  /** The most milliseconds of one try (10 000). */
  readonly timeout?: number;
  /** The most tries of one call (8). */
  readonly tries?: number;
  /** The most milliseconds of one call, with all its tries and pauses (30 000). */
  readonly deadline?: number;
}

export interface CallOptions {
  /** Ends the call: it rejects with TimeLogError ABORTED. */
  readonly signal?: AbortSignal | undefined;
}

export interface RecordOptions extends CallOptions {
  /** Names this log: it is recorded once, however often it is sent with the same key. By default a key is made. */
  readonly idempotencyKey?: string | undefined;
}

export interface ListOptions extends CallOptions {
  /** How many logs to ask for at a time: 50 to 1000 (1000). */
  readonly pageSize?: number | undefined;
}

/**
 * Records and lists time logs, in browsers and in Node. Repeats a request where that is safe and the connection fails
 * or the service is overloaded or away. A call that fails rejects with TimeLogError.
 */
export class TimeLogClient {
  private readonly sender: RetryingSender;
  private readonly tries: number;

  /** Throws TypeError for options that cannot work. */
  constructor(options: TimeLogClientOptions, runtime: Runtime = RUNTIME) {
    const { token, fetch = runtime.fetch, timeout = 10_000, tries = 8, deadline = 30_000 } = options;
    requireWhole({ timeout, deadline }, 1, LONGEST_TIME);
    requireWhole({ tries }, 1, Number.MAX_SAFE_INTEGER);
    this.tries = tries;
    this.sender = new RetryingSender(
      {
        root: rootOf(options.baseUrl),
        token: typeof token === 'string' ? () => token : token,
        timeout,
        deadline,
      },
      { ...runtime, fetch },
    );
  }

  /** Records a log: exactly one, however often the request is sent. */
  async record(
    log: NewTimeLog,
    { idempotencyKey = randomId(), signal }: RecordOptions = {},
  ): Promise<RecordedTimeLog> {
    if (!KEY.test(idempotencyKey)) {
      throw new TypeError(
        'idempotencyKey must be 1 to 255 printable ASCII characters, without a space at its ends',
      );
    }
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey };
    const body = JSON.stringify(log);
    return this.sender.call(
      {
        method: 'POST',
        path: TIME_LOGS,
        headers,
        body,
        idempotencyKey,
        read: (answer) => logIn(answer, 201),
      },
      { tries: this.tries, signal },
    );
  }

  /** The log with an id. Rejects with TimeLogError NOT_FOUND where there is none. */
  async get(id: string, { signal }: CallOptions = {}): Promise<RecordedTimeLog> {
    if (!UUID.test(id)) throw new TypeError('id must be a UUID');
    const call = {
      method: 'GET',
      path: `${TIME_LOGS}/${id}`,
      read: (answer: Answer) => logIn(answer, 200),
    } as const;
    return this.sender.call(call, { tries: this.tries, signal });
  }

  /**
   * Yields all logs that match, in the order of the list, each once, while others are recorded. Those may be among
   * them. Rejects with TimeLogError LIST_CHANGED where the last yielded log is deleted meanwhile.
   */
  list(
    filter: TimeLogFilter = {},
    { pageSize = MOST_PAGE, signal }: ListOptions = {},
  ): AsyncGenerator<TimeLog, void, undefined> {
    requireWhole({ pageSize }, LEAST_PAGE, MOST_PAGE);
    return everyLog((page) => this.listPage({ ...filter, ...page }, { signal }), pageSize);
  }

  /** One page of the logs that match, and the number of all that match. */
  listPage(filter: PageFilter = {}, { signal }: CallOptions = {}): Promise<TimeLogPage> {
    const path = TIME_LOGS + queryOf(filter);
    return this.sender.call({ method: 'GET', path, read: pageIn }, { tries: this.tries, signal });
  }

  /** Resolves where the service is available now. Else rejects with the reason, after one try. */
  async health({ signal }: CallOptions = {}): Promise<void> {
    await this.sender.call({ method: 'GET', path: '/health', read: healthIn }, { tries: 1, signal });
  }
}

function logIn({ status, text }: Answer, expected: 200 | 201): RecordedTimeLog | undefined {
  const { success, data } = (parsed(text) ?? {}) as Partial<Schemas['TimeLogRecorded']>;
  return status === expected && success === true && typeof data?.id === 'string' ? data : undefined;
}

function pageIn({ status, text }: Answer): TimeLogPage | undefined {
  const { success, data, meta } = (parsed(text) ?? {}) as Partial<Schemas['TimeLogList']>;
  const isPage = status === 200 && success === true && Array.isArray(data) && typeof meta?.total === 'number';
  return isPage ? { data, meta } : undefined;
}

function healthIn({ status, text }: Answer): true | undefined {
  return status === 200 && text === 'OK' ? true : undefined;
}

function queryOf(filter: PageFilter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** The URL to which the paths of the service are appended. */
function rootOf(baseUrl: string): string {
  const { protocol, origin, pathname, href } = new URL(URL.canParse(baseUrl) ? baseUrl : 'about:blank');
  // Query, fragment and password would get lost.
  if (!/^https?:$/.test(protocol) || href !== origin + pathname) {
    throw new TypeError('baseUrl must be an absolute http or https URL, such as https://time-logs.example');
  }
  return href.replace(/\/+$/, '');
}

function requireWhole(numbers: Readonly<Record<string, number>>, least: number, most: number): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new TypeError(`${name} must be a whole number from ${least} to ${most}`);
    }
  }
}
