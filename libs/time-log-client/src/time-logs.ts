import type { components, operations } from './openapi.js';

type Schemas = components['schemas'];
type ListQuery = NonNullable<operations['listTimeLogs']['parameters']['query']>;
type TotalsQuery = NonNullable<operations['totalTimeLogs']['parameters']['query']>;

/** The attributes that a host application stores with a log. The service itself accepts none. */
export interface WithAttributes {
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** The values of a log to record. */
export type NewTimeLog = Schemas['NewTimeLog'] & WithAttributes;
/** A log as the service returns it to the client that recorded it. */
export type RecordedTimeLog = Schemas['RecordedTimeLog'] & WithAttributes;
/** A log in a list. */
export type TimeLog = Schemas['TimeLog'] & WithAttributes;
/** A page of logs. `meta.total` is the number of logs of all pages. */
export type TimeLogPage = Omit<Schemas['TimeLogList'], 'success' | 'data'> & { data: TimeLog[] };
/** Totals: `meta` has those of all matching logs, `data` the groups of the page. */
export type Totals = Omit<Schemas['Totals'], 'success'>;
/** The logs to sum, the grouping, and the page of the groups. */
export type TotalsFilter = { readonly [Name in keyof TotalsQuery]: TotalsQuery[Name] | undefined };
/** The logs to list, and the page. */
export type PageFilter = { readonly [Name in keyof ListQuery]: ListQuery[Name] | undefined };
/** The logs to list. */
export type TimeLogFilter = Omit<PageFilter, 'page' | 'limit'>;

/** The options of every call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with TimeLogError ABORTED. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of `record`. */
export interface RecordOptions extends CallOptions {
  /** A log is recorded only once with the same key. By default a key is generated. */
  readonly idempotencyKey?: string | undefined;
}

/** The options of `list`. */
export interface ListOptions extends CallOptions {
  /** The number of logs per request: 50 to 1000 (1000). */
  readonly pageSize?: number | undefined;
}

/** The options of `events` and `follow`. */
export interface EventsOptions extends CallOptions {
  /** The id of the last processed event: iteration starts after it. By default at the beginning. */
  readonly after?: string | undefined;
  /** The milliseconds between requests at the end of the feed. By default iteration stops there. */
  readonly wait?: number | undefined;
  /** The number of events per request: 1 to 1000 (100). */
  readonly pageSize?: number | undefined;
}

/** The operations of both clients. A call that fails rejects with TimeLogError. */
export interface TimeLogs {
  /** Records exactly one log, even if the request is sent several times. */
  record(log: NewTimeLog, options?: RecordOptions): Promise<RecordedTimeLog>;

  /**
   * Yields all matching logs in the order of the list, each once. Logs that are recorded meanwhile
   * may be included. Rejects with TimeLogError LIST_CHANGED if the last yielded log was deleted.
   */
  list(filter?: TimeLogFilter, options?: ListOptions): AsyncGenerator<TimeLog, void, undefined>;

  /** Returns a page of the matching logs, and the number of all. */
  listPage(filter?: PageFilter, options?: CallOptions): Promise<TimeLogPage>;

  /** Returns the number of matching logs and the sum of their durations; with `by`, per group. */
  totals(filter?: TotalsFilter, options?: CallOptions): Promise<Totals>;
}

/** The possible change of a `record` whose outcome is unknown, and what to do then. */
export const POSSIBLY_RECORDED = 'recorded: record it again with the idempotencyKey of this error';

/** Returns the log in a response body; undefined if it is another body. */
export function parseLog(body: unknown): RecordedTimeLog | undefined {
  const { success, data } = (body ?? {}) as Partial<Schemas['TimeLogRecorded']>;
  return success === true && typeof data?.id === 'string' ? data : undefined;
}

/** Returns the page in a response body; undefined if it is another body. */
export function parsePage(body: unknown): TimeLogPage | undefined {
  const { success, data, meta } = (body ?? {}) as Partial<Schemas['TimeLogList']>;
  const isPage = success === true && Array.isArray(data) && typeof meta?.total === 'number';
  return isPage ? { data, meta } : undefined;
}

/** Returns the totals in a response body; undefined if it is another body. */
export function parseTotals(body: unknown): Totals | undefined {
  const { success, data, meta } = (body ?? {}) as Partial<Schemas['Totals']>;
  const isTotals = success === true && Array.isArray(data) && typeof meta?.duration === 'number';
  return isTotals ? { data, meta } : undefined;
}
