/* Without it every caller writes retries, paging and types on its own. */

export { TimeLogClient, type TimeLogClientOptions } from './time-log-client.js';
export { TimeLogError, type TimeLogErrorCode } from './time-log.error.js';
export type { TimeLogEvent } from './every-event.js';
export type {
  NewTimeLog,
  RecordedTimeLog,
  TimeLog,
  TimeLogFilter,
  TimeLogPage,
  TimeLogs,
  Totals,
} from './time-logs.js';
export type { paths } from './openapi.js';
