/* The public names for host applications. The index is for internal modules and may change with them. */

export { type CallOptions, type RecordOptions } from './application/call-options.js';
export { type TimeLogChange, type TimeLogHooks } from './application/time-log-hooks.js';
export { TimeLogService } from './application/time-log.service.js';
export { type AttributesSchema } from './domain/attributes.js';
export { fingerprintOf, type IdempotencyKey } from './domain/idempotency-key.js';
export { PageRequest } from './domain/page-request.js';
export { Period } from './domain/period.js';
export { ALL_PROJECTS, type ProjectAccess } from './domain/project-access.js';
export { TimeLogIds } from './domain/time-log-ids.js';
export {
  type TimeLogFilter,
  type TimeLogPage,
  TimeLogRepository,
  type TimeLogWrites,
} from './domain/time-log.repository.js';
export { TimeLog, type TimeLogValues } from './domain/time-log.js';
export { type TransactionHandle } from './domain/transaction-handle.js';
export { OldTimeLogs } from './infrastructure/old-time-logs.js';
export { TimeLogCounts } from './infrastructure/time-log-counts.js';
export { timeLogEntities } from './infrastructure/time-log.entities.js';
export { TypeOrmTimeLogRepository } from './infrastructure/typeorm-time-log.repository.js';
export { TimeLogCoreModule } from './time-log-core.module.js';
export { timeLogMigrations } from './time-log.migrations.js';
export { TimeLogModule } from './time-log.module.js';
export { type TimeLogModuleOptions } from './time-log.options.js';
export { CreateTimeLogDto } from './wire/create-time-log.dto.js';
export { criteriaOf, ListTimeLogsDto } from './wire/list-time-logs.dto.js';
export { listResponse, logResponse } from './wire/time-log-bodies.js';
