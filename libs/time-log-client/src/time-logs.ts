import { requireAttribute } from './arguments.js';
import type { components, operations } from './openapi.js';

type Schemas = components['schemas'];
type ListQuery = NonNullable<operations['listTimeLogs']['parameters']['query']>;
type TotalsQuery = NonNullable<operations['totalTimeLogs']['parameters']['query']>;

/** Fields of your own, if the service has a schema of attributes. */
export interface WithAttributes {
  readonly attributes?: Readonly<Record<string, unknown>>;
}

interface WithVersion {
  /** The version of a log that an HTTP call for this log alone has returned, for `ifMatch`. It is not sent. */
  readonly etag?: string;
}

/** The values of a log to record. */
export type NewTimeLog = Schemas['NewTimeLog'] & WithAttributes;
/** The values of a log to correct, or the log as a call has returned it. */
export type TimeLogCorrection = Schemas['TimeLogCorrection'] & WithAttributes & WithVersion;
/** The values of a log to change. `null` resets a value. */
export type TimeLogPatch = Omit<Schemas['TimeLogPatch'], 'description'> &
  WithVersion & {
    readonly description?: string | null;
    readonly attributes?: Readonly<Record<string, unknown>> | null;
  };
/** A log with all its values. */
export type RecordedTimeLog = Schemas['RecordedTimeLog'] & WithAttributes & WithVersion;
/** A log in a list. */
export type TimeLog = Schemas['TimeLog'] & WithAttributes;
/** A page of logs. `meta.total` is the number of logs of all pages. */
export type TimeLogPage = Omit<Schemas['TimeLogList'], 'success' | 'data'> & { data: TimeLog[] };
/** Totals: `meta` has those of all matching logs, `data` the groups of the page. */
export type Totals = Omit<Schemas['Totals'], 'success'>;
/** The logs to sum, the grouping, and the page of the groups. */
export type TotalsFilter = FilterOf<TotalsQuery>;
/** The logs to list, and the page. */
export type PageFilter = FilterOf<ListQuery>;
/** A query, with one project or at most 100. */
type FilterOf<Query> = {
  readonly [Name in keyof Query]:
    Query[Name] | (Name extends 'projectId' ? readonly string[] : never) | undefined;
} & AttributesFilter;
interface AttributesFilter {
  /** The values that the logs must have, of at most 3 attributes by which the service filters. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>> | undefined;
}
/** The logs to list or to export. */
export type TimeLogFilter = Omit<PageFilter, 'page' | 'limit'>;

/** The options of every call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with TimeLogError ABORTED. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of `correct`, `patch` and `delete`. */
export interface ChangeOptions extends CallOptions {
  /**
   * The `etag` of the only version to change: if the log has another one now, the call rejects with
   * TimeLogError PRECONDITION_FAILED. Such a request is not repeated if its response is lost.
   */
  readonly ifMatch?: string | undefined;
}

/** The options of `record` and `recordAll`. */
export interface RecordOptions extends CallOptions {
  /** Logs are recorded only once with the same key. By default a key is generated. */
  readonly idempotencyKey?: string | undefined;
}

/** The options of `list`. */
export interface ListOptions extends CallOptions {
  /** The number of logs per request: 50 to 1000 (1000). */
  readonly pageSize?: number | undefined;
}

/** The options of `events` and `follow`. */
export interface EventsOptions extends CallOptions {
  /** The projects whose events to read. By default all that the token may read. */
  readonly projectId?: string | readonly string[] | undefined;
  /** The id of the last processed event: iteration starts after it. By default at the beginning. */
  readonly after?: string | undefined;
  /** The milliseconds between requests at the end of the feed. By default iteration stops there. */
  readonly wait?: number | undefined;
  /** The number of events per request: 1 to 1000 (100). */
  readonly pageSize?: number | undefined;
}

/** A copy of the logs: a Map, or what stores them elsewhere. The results of its methods are awaited. */
export interface TimeLogCopy {
  /** Removes all logs. */
  clear(): unknown;
  /** Adds or replaces a log. */
  set(id: string, log: RecordedTimeLog): unknown;
  /** Removes a log, if it exists. */
  delete(id: string): unknown;
  /** Stores the next `after`: the copy has all changes up to there. */
  save?(lastEventId: string): unknown;
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

/**
 * Returns the filter as the parameters of a query, without those that are undefined. Throws TypeError
 * if the value of an attribute is missing or another one would be sent.
 */
export function parametersOf({ attributes = {}, ...filter }: AttributesFilter): Record<string, unknown> {
  const entries = Object.entries(filter).filter(([, value]) => value !== undefined);
  return Object.fromEntries([
    ...entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value]),
    ...Object.entries(attributes).map(([name, value]) => {
      requireAttribute(name, value);
      return [`attributes.${name}`, value];
    }),
  ]) as Record<string, unknown>;
}

/** The possible change of a `record` whose outcome is unknown, and what to do then. */
export const POSSIBLY_RECORDED =
  'the log may have been recorded: record it again with the idempotencyKey of this error';

/** Returns the log in a response body, with its version in an HTTP response; undefined if it is another body. */
export function parseLog(body: unknown, response?: Response): RecordedTimeLog | undefined {
  const { success, data } = (body ?? {}) as Partial<Schemas['TimeLogRecorded']>;
  if (success !== true || !isLog(data)) return undefined;
  const etag = response?.headers.get('etag');
  return etag ? { ...data, etag } : data;
}

/** Returns a number of logs in a response body; undefined if it is another body. */
export function parseLogs(body: unknown, count: number): RecordedTimeLog[] | undefined {
  const { success, data } = (body ?? {}) as Partial<Schemas['TimeLogsRecorded']>;
  return success === true && areLogs(data) && data.length === count ? data : undefined;
}

/** Returns the page in a response body; undefined if it is another body. */
export function parsePage(body: unknown): TimeLogPage | undefined {
  const { success, data, meta } = (body ?? {}) as Partial<Schemas['TimeLogList']>;
  const isPage = success === true && areLogs(data) && typeof meta?.total === 'number';
  return isPage ? { data, meta } : undefined;
}

/** Returns the totals in a response body; undefined if it is another body. */
export function parseTotals(body: unknown): Totals | undefined {
  const { success, data, meta } = (body ?? {}) as Partial<Schemas['Totals']>;
  const isTotals =
    success === true && Array.isArray(data) && isTotal(meta) && data.every((group) => isTotal(group));
  return isTotals ? { data, meta } : undefined;
}

/** Returns whether a value of a response is a log. */
export function isLog(value: unknown): value is RecordedTimeLog {
  return typeof (value as Partial<RecordedTimeLog> | null | undefined)?.id === 'string';
}

function areLogs<L>(values: readonly L[] | undefined): values is L[] {
  return Array.isArray(values) && values.every(isLog);
}

function isTotal<T extends Totals['meta'] | Totals['data'][number]>(value: T | undefined): value is T {
  return typeof value?.count === 'number' && typeof value.duration === 'number';
}
