export {
  type MessageProxy,
  TimeLogMessageClient,
  type TimeLogMessageClientOptions,
} from './time-log-message-client.js';
export { type ServiceErrorCode, TimeLogError, type TimeLogErrorCode } from './time-log.error.js';
export type {
  CallOptions,
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
