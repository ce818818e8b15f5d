import { FirstMigration } from './infrastructure/first-migration.js';
import { CreateTimeLogCounts1763769600000 } from './infrastructure/migrations/1763769600000-create-time-log-counts.js';
import { CountTimeLogs1763769700000 } from './infrastructure/migrations/1763769700000-count-time-logs.js';
import { CreateTimeLogKeys1763856000000 } from './infrastructure/migrations/1763856000000-create-time-log-keys.js';
import { GuardCountFunctions1763856100000 } from './infrastructure/migrations/1763856100000-guard-count-functions.js';
import { MendCountFunctions1763942400000 } from './infrastructure/migrations/1763942400000-mend-count-functions.js';
import { RefuseStaleCounts1763950000000 } from './infrastructure/migrations/1763950000000-refuse-stale-counts.js';
import { CreateTimeLogPageV21764028800000 } from './infrastructure/migrations/1764028800000-create-time-log-page-v2.js';
import { FoldTimeLogCounts1764115200000 } from './infrastructure/migrations/1764115200000-fold-time-log-counts.js';
import { AddTimeLogPositions1764201600000 } from './infrastructure/migrations/1764201600000-add-time-log-positions.js';
import { IndexTimeLogPositions1764201700000 } from './infrastructure/migrations/1764201700000-index-time-log-positions.js';
import { CountPeriods1764374400000 } from './infrastructure/migrations/1764374400000-count-periods.js';
import { MoveTimeLogPositions1764460800000 } from './infrastructure/migrations/1764460800000-move-time-log-positions.js';
import { AddDurationSums1764547200000 } from './infrastructure/migrations/1764547200000-add-duration-sums.js';
import { KeepDurationSums1764547300000 } from './infrastructure/migrations/1764547300000-keep-duration-sums.js';
import { RequireDurationSums1764547400000 } from './infrastructure/migrations/1764547400000-require-duration-sums.js';
import { SumDurations1764547500000 } from './infrastructure/migrations/1764547500000-sum-durations.js';
import { TellCorrections1764547600000 } from './infrastructure/migrations/1764547600000-tell-corrections.js';
import { CreateFunctionsOfSeveralProjects1764806400000 } from './infrastructure/migrations/1764806400000-create-functions-of-several-projects.js';
import { AddTimeLogAttributes1764892800000 } from './infrastructure/migrations/1764892800000-add-time-log-attributes.js';
import { timeLogEntities } from './infrastructure/time-log.entities.js';
import {
  keepTimeLogPositions,
  unreachedTimeLogPosition,
} from './infrastructure/feed/keep-time-log-positions.js';
import { IDEMPOTENCY_KEY_REUSED } from './domain/idempotency-key.js';
import { FEED_GONE } from './domain/time-log-event.js';
import { TIME_LOGS_TAG } from './api/time-log.documentation.js';
import type { TimeLogLimits } from './time-log.limits.js';
import { TimeLogModule } from './time-log.module.js';
import { timeLogScopes } from './time-log.scopes.js';

export { type CloudEvent, cloudEventOf, SOURCE_OF_EVENTS } from './wire/cloud-event.js';
export { CreateTimeLogDto } from './wire/create-time-log.dto.js';
export { TotalTimeLogsDto } from './wire/total-time-logs.dto.js';
export { type TotalsResponse, totalsJson, totalsResponse } from './wire/time-log-totals.js';
export { criteriaOf, ListTimeLogsDto } from './wire/list-time-logs.dto.js';
export {
  listResponse,
  logResponse,
  type TimeLogBody,
  type TimeLogListResponse,
  type TimeLogResponse,
} from './wire/time-log-bodies.js';
export { type ChosenRoutes } from './api/chosen-routes.js';
export { type TimeLogCaller } from './application/call.js';
export { type TimeLogChange, type TimeLogHooks } from './application/time-log-hooks.js';
export { type CallOptions, type RecordOptions, TimeLogService } from './application/time-log.service.js';
export { type Access, ALL_PROJECTS } from './domain/access.js';
export { type AttributesSchema } from './domain/attributes.js';
export { fingerprintOf, IDEMPOTENCY_KEY_LENGTH, type IdempotencyKey } from './domain/idempotency-key.js';
export { DEFAULT_PAGE, Page, PAGE_LIMIT } from './domain/page.js';
export { Period } from './domain/period.js';
export { type DeletedTimeLog, type FeedPlace, placeOf, TimeLogEvent } from './domain/time-log-event.js';
export { TimeLogIds } from './domain/time-log-ids.js';
export {
  type Backlog,
  type TimeLogFilter,
  type TimeLogPage,
  TimeLogRepository,
  type TimeLogWrites,
} from './domain/time-log.repository.js';
export { DESCRIPTION_LENGTH } from './domain/time-log.rules.js';
export { type Attributes, TimeLog, type TimeLogValues } from './domain/time-log.js';
export { type Grouping, type PeriodSum, type ProjectSum, type Sum, type Totals } from './domain/totals.js';
export { keepTimeLogPositions } from './infrastructure/feed/keep-time-log-positions.js';
export { type Transaction } from './domain/transaction.js';
export { TimeLogDeletions } from './infrastructure/feed/time-log-deletions.js';
export { TimeLogCounts } from './infrastructure/counts/time-log-counts.js';
export {
  TypeOrmTimeLogRepository,
  WRITE_LIMITS,
  type WriteLimits,
} from './infrastructure/typeorm-time-log.repository.js';
export { timeLogEntities };
export { TIME_LOG_LIMITS, type TimeLogLimits } from './time-log.limits.js';
export { TimeLogCoreModule } from './time-log-core.module.js';
export { TimeLogModule } from './time-log.module.js';
export {
  type TimeLogCoreOptions,
  type TimeLogModuleOptions,
  type TimeLogOptions,
} from './time-log.options.js';

/** The migrations that make their tables, in order. */
export const timeLogMigrations = [
  FirstMigration,
  CreateTimeLogCounts1763769600000,
  CountTimeLogs1763769700000,
  CreateTimeLogKeys1763856000000,
  GuardCountFunctions1763856100000,
  MendCountFunctions1763942400000,
  RefuseStaleCounts1763950000000,
  CreateTimeLogPageV21764028800000,
  FoldTimeLogCounts1764115200000,
  AddTimeLogPositions1764201600000,
  IndexTimeLogPositions1764201700000,
  CountPeriods1764374400000,
  MoveTimeLogPositions1764460800000,
  AddDurationSums1764547200000,
  KeepDurationSums1764547300000,
  RequireDurationSums1764547400000,
  SumDurations1764547500000,
  TellCorrections1764547600000,
  CreateFunctionsOfSeveralProjects1764806400000,
  AddTimeLogAttributes1764892800000,
];

/** The module, as the service binds it. */
export const timeLogs = {
  prefix: 'api/v1',
  bind: ({ limits }: { readonly limits: TimeLogLimits }) =>
    // The document tells of the limit that a deployment may set.
    TimeLogModule.forRoot({ limits, openApi: { rateLimit: true } }),
  entities: timeLogEntities,
  migrations: timeLogMigrations,
  note: unreachedTimeLogPosition,
  afterRestore: keepTimeLogPositions,
  scopes: timeLogScopes,
  errors: [FEED_GONE, IDEMPOTENCY_KEY_REUSED],
  headers: { accepted: ['Idempotency-Key'], exposed: ['Link', 'Idempotency-Replayed'] },
  tags: [TIME_LOGS_TAG],
};
