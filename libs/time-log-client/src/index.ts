export {
  type CallOptions,
  type ListOptions,
  type NewTimeLog,
  type PageFilter,
  type RecordedTimeLog,
  type RecordOptions,
  type TimeLog,
  TimeLogClient,
  type TimeLogClientOptions,
  type TimeLogFilter,
  type TimeLogPage,
} from './time-log-client.js';
export { type ServiceErrorCode, TimeLogError, type TimeLogErrorCode } from './time-log.error.js';
export type { Fetch } from './runtime.js';
export type { paths } from './openapi.js';
