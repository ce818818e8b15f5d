/* The public names for host applications. The index is for internal modules and may change with them. */

export {
  ALL_PROJECTS,
  type CallOptions,
  type ChangeOptions,
  CreateTimeLogDto,
  criteriaOf,
  entityTagOf,
  type IdempotencyKey,
  listResponse,
  ListTimeLogsDto,
  logResponse,
  OldTimeLogs,
  type PageInput,
  PageRequest,
  Period,
  type TimeLogAccess,
  type RecordOptions,
  TimeLog,
  TimeLogCounts,
  timeLogEntities,
  type TimeLogFilterInput,
  timeLogMigrations,
  type TimeLogPage,
  TimeLogService,
  type TimeLogValues,
  type TransactionHandle,
} from '../../../src/time-log/index.js';
export {
  type AttributesOf,
  type AttributesSchema,
  type SentAttributesOf,
} from '../../attributes/src/index.js';
export {
  type BatchedTimeLogHooks,
  type TimeLogChange,
  type TimeLogHooks,
  type WrittenTimeLogChange,
} from './hooks/time-log-hooks.js';
export { TimeLogCoreModule } from './time-log-core.module.js';
export { TimeLogHealth } from './time-log-health.js';
export { TimeLogModule } from './time-log.module.js';
export { type TimeLogModuleOptions } from './time-log.options.js';
