/* Without it every client application implements retries, paging and types itself. */

export { TimeLogClient, type TimeLogClientOptions } from './time-log-client.js';
export { TimeLogError, type TimeLogErrorCode } from './time-log.error.js';
export type { Export, TimeLogExport } from './export-logs.js';
export type { TimeLogEvent } from './iterate-events.js';
export type {
  NewTimeLog,
  RecordedTimeLog,
  TimeLog,
  TimeLogCopy,
  TimeLogFilter,
  TimeLogPage,
  TimeLogCorrection,
  TimeLogPatch,
  TimeLogs,
  Totals,
} from './time-logs.js';
export type { paths } from './openapi.js';
