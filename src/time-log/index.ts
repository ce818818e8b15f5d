export { type CallOptions, haveValues, requireAccess } from './application/access.js';
export type { ChangeOptions, RecordOptions } from './application/change-options.js';
export { TimeLogService } from './application/time-log.service.js';
export { canonicalJson, entityTagOf } from './domain/fingerprints.js';
export {
  type AttributeFilters,
  AttributeRules,
  type AttributeType,
  type AttributeValues,
} from './domain/attribute-rules.js';
export {
  PageRequest,
  Period,
  type TimeLogAccess,
  type TimeLogFilter,
  type TimeLogFilterInput,
} from './domain/time-log-query.js';
export {
  type Recorded,
  type StoreOptions,
  type TimeLogPage,
  TimeLogRepository,
  type TimeLogStore,
  type TimeLogWrites,
  type TransactionHandle,
  type TransactOptions,
} from './domain/time-log.repository.js';
export { TypeOrmTimeLogRepository } from './infrastructure/typeorm-time-log.repository.js';
export {
  type IdempotencyKey,
  idempotencyKeyFault,
  idempotencyKeyOf,
  mapKeyOf,
} from './domain/idempotency-key.js';
export { TimeLogIds } from './domain/time-log-ids.js';
export { isCalendarDate, isPlainObject, textFault } from './domain/time-log.rules.js';
export {
  type AllTimeLogValues,
  type Attributes,
  type ConvertedAttributes,
  normalizedValues,
  TimeLog,
  type TimeLogValues,
} from './domain/time-log.js';
export { OldTimeLogs } from './infrastructure/old-time-logs.js';
export { TimeLogCountsCheck } from './infrastructure/time-log-counts-check.js';
export { timeLogEntities } from './infrastructure/time-log.entities.js';
export { limitsOf, type TimeLogLimits } from './time-log.limits.js';
export { timeLogMigrations } from './time-log.migrations.js';
export { type EnabledRoutes } from './time-log.routes.js';
export { TIME_LOG_OPTIONS, type TimeLogOptions, CORRECT, READ, WRITE } from './time-log.options.js';
export { criteriaOf, ListTimeLogsDto, TimeLogFilterDto } from './api/list-time-logs.dto.js';
export { itemsResponse, LargeLists, logResponse } from './api/responses.js';
export { TimeLogDto, valuesOf } from './api/time-log.dto.js';
