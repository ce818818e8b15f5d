export { CreateTimeLogDto } from './wire/create-time-log.dto.js';
export { criteriaOf, ListTimeLogsDto } from './wire/list-time-logs.dto.js';
export {
  listResponse,
  logResponse,
  type TimeLogBody,
  type TimeLogListResponse,
  type TimeLogResponse,
} from './wire/time-log-bodies.js';
export { type EnabledRoutes } from './api/enabled-routes.js';
export { type CallOptions, type RecordOptions } from './application/call-options.js';
export { type TimeLogChange, type TimeLogHooks } from './application/time-log-hooks.js';
export { TimeLogService } from './application/time-log.service.js';
export { type ProjectAccess, ALL_PROJECTS } from './domain/project-access.js';
export { type AttributesSchema } from './domain/attributes.js';
export { fingerprintOf, MAX_IDEMPOTENCY_KEY_LENGTH, type IdempotencyKey } from './domain/idempotency-key.js';
export { DEFAULT_PAGE, PageRequest, MAX_PAGE_LIMIT } from './domain/page-request.js';
export { Period } from './domain/period.js';
export { TimeLogIds } from './domain/time-log-ids.js';
export {
  type TimeLogFilter,
  type TimeLogPage,
  TimeLogRepository,
  type TimeLogWrites,
} from './domain/time-log.repository.js';
export { MAX_DESCRIPTION_LENGTH } from './domain/time-log.rules.js';
export { type TimeLogItems } from './domain/time-log-item.js';
export { type Attributes, TimeLog, type TimeLogValues } from './domain/time-log.js';
export { type TransactionHandle } from './domain/transaction-handle.js';
export { OldTimeLogs } from './infrastructure/old-time-logs.js';
export { TimeLogCounts } from './infrastructure/time-log-counts.js';
export {
  TypeOrmTimeLogRepository,
  WRITE_LIMITS,
  type WriteLimits,
} from './infrastructure/typeorm-time-log.repository.js';
export { timeLogEntities } from './infrastructure/time-log.entities.js';
export { TIME_LOG_LIMITS, type TimeLogLimits } from './time-log.limits.js';
export { TimeLogCoreModule } from './time-log-core.module.js';
export { TimeLogModule } from './time-log.module.js';
export {
  type TimeLogCoreOptions,
  type TimeLogModuleOptions,
  type TimeLogOptions,
} from './time-log.options.js';
export { timeLogMigrations } from './time-log.migrations.js';
