/* The entry `time-logs/time-log` for applications that embed time logs. The service itself uses the module, too. */

export {
  type CallOptions,
  type ChangeOptions,
  entityTagOf,
  type IdempotencyKey,
  OldTimeLogs,
  PageRequest,
  Period,
  type RecordOptions,
  TimeLog,
  TimeLogCountsCheck,
  timeLogEntities,
  type TimeLogFilterInput,
  timeLogMigrations,
  type TimeLogPage,
  TimeLogService,
  type TimeLogValues,
} from '../time-log/index.js';
export type { AttributesOf, AttributesSchema, SentAttributesOf } from '../attributes/index.js';
export { type TimeLogChange, type TimeLogHooks, type WrittenTimeLogChange } from './hooks/time-log-hooks.js';
export { TimeLogHealth } from './time-log-health.js';
export { TimeLogModule } from '../time-log/time-log.module.js';
export { type TimeLogModuleOptions } from './time-log.options.js';
