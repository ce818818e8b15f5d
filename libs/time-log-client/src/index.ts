/* Without it every caller writes retries, paging and types on its own. */

export { TimeLogClient, type TimeLogClientOptions } from './time-log-client.js';
export { type ServiceErrorCode, TimeLogError, type TimeLogErrorCode } from './time-log.error.js';
export type { TimeLogEvent } from './every-event.js';
export type {
  CallOptions,
  EventsOptions,
  GroupTotal,
  ListOptions,
  NewTimeLog,
  PageFilter,
  RecordedTimeLog,
  RecordOptions,
  TimeLog,
  TimeLogFilter,
  TimeLogPage,
  TimeLogs,
  Totals,
  TotalsFilter,
} from './time-logs.js';
export type { Fetch } from './runtime.js';
export type { paths } from './openapi.js';
