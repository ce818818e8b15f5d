import type { components, operations } from './openapi.js';

type Schemas = components['schemas'];
type ListQuery = NonNullable<operations['listTimeLogs']['parameters']['query']>;
type TotalsQuery = NonNullable<operations['totalTimeLogs']['parameters']['query']>;

/** What a host of the module may keep with a log, in a form of its own. The service itself takes none. */
export interface WithAttributes {
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** The values of a log to record. */
export type NewTimeLog = Schemas['NewTimeLog'] & WithAttributes;
/** A log as the service answers it to whoever recorded it. */
export type RecordedTimeLog = Schemas['RecordedTimeLog'] & WithAttributes;
/** A log in a list. */
export type TimeLog = Schemas['TimeLog'] & WithAttributes;
/** One page. `data` holds its logs; `meta.total` counts those of all pages. */
export type TimeLogPage = Omit<Schemas['TimeLogList'], 'success' | 'data'> & { data: TimeLog[] };
/** The logs of one project, day, week or month: how many, and the number nearest to the sum of their durations. */
type GroupTotal = Schemas['ProjectTotal'] | Schemas['PeriodTotal'];
/** Totals. `meta` has those of all logs that match; `data` holds the groups of the page, `meta.total` counts all. */
export type Totals = Omit<Schemas['Totals'], 'success'>;
/** Which logs to sum, by what, and which page of the groups. */
export type TotalsFilter = { readonly [Name in keyof TotalsQuery]: TotalsQuery[Name] | undefined };
/** Which page to list, of which logs. */
export type PageFilter = { readonly [Name in keyof ListQuery]: ListQuery[Name] | undefined };
/** Which logs to list. */
export type TimeLogFilter = Omit<PageFilter, 'page' | 'limit'>;

/** How one call is made. */
export interface CallOptions {
  /** Ends the call: it rejects with TimeLogError ABORTED. */
  readonly signal?: AbortSignal | undefined;
}

/** How a log is recorded. */
export interface RecordOptions extends CallOptions {
  /** Names this log: it is recorded once, however often it is sent with the same key. By default a key is made. */
  readonly idempotencyKey?: string | undefined;
}

/** Which page is read. */
export interface ListOptions extends CallOptions {
  /** How many logs to ask for at a time: 50 to 1000 (1000). */
  readonly pageSize?: number | undefined;
}

/** Which events are read. */
export interface EventsOptions extends CallOptions {
  /** The id of the last event that was dealt with: those after it are yielded. By default from the beginning. */
  readonly after?: string | undefined;
  /** Milliseconds before it asks again where there is nothing new, for ever. By default it ends there. */
  readonly wait?: number | undefined;
  /** How many events to ask for at a time: 1 to 1000 (100). */
  readonly pageSize?: number | undefined;
}

/** What every client can do, whether it speaks HTTP or messages. A call that fails rejects with TimeLogError. */
export interface TimeLogs {
  /** Records a log: exactly one, however often the request is sent. */
  record(log: NewTimeLog, options?: RecordOptions): Promise<RecordedTimeLog>;

  /**
   * Yields all logs that match, in the order of the list, each once, while others are recorded. Those may be among
   * them. Rejects with TimeLogError LIST_CHANGED where the last yielded log is deleted meanwhile.
   */
  list(filter?: TimeLogFilter, options?: ListOptions): AsyncGenerator<TimeLog, void, undefined>;

  /** One page of the logs that match, and the number of all that match. */
  listPage(filter?: PageFilter, options?: CallOptions): Promise<TimeLogPage>;

  /** How many logs match and the sum of their durations, of all and, with `by`, of each group of a page. */
  totals(filter?: TotalsFilter, options?: CallOptions): Promise<Totals>;
}

/** What a record may have done where its outcome is unknown. */
export const MAY_BE_RECORDED = 'recorded: record it again with the idempotencyKey of this error';

/** The log in the body of a success; undefined where the body is another one. */
export function logIn(body: unknown): RecordedTimeLog | undefined {
  const { success, data } = (body ?? {}) as Partial<Schemas['TimeLogRecorded']>;
  return success === true && typeof data?.id === 'string' ? data : undefined;
}

/** The page in the body of a success; undefined where the body is another one. */
export function pageIn(body: unknown): TimeLogPage | undefined {
  const { success, data, meta } = (body ?? {}) as Partial<Schemas['TimeLogList']>;
  const isPage = success === true && Array.isArray(data) && typeof meta?.total === 'number';
  return isPage ? { data, meta } : undefined;
}

/** The totals in the body of a success; undefined where the body is another one. */
export function totalsIn(body: unknown): Totals | undefined {
  const { success, data, meta } = (body ?? {}) as Partial<Schemas['Totals']>;
  const isTotals = success === true && Array.isArray(data) && typeof meta?.duration === 'number';
  return isTotals ? { data, meta } : undefined;
}
