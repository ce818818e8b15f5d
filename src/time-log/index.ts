import { CreateTimeLogs1763683200000 } from './infrastructure/migrations/1763683200000-create-time-logs.js';
import { TimeLogSchema } from './infrastructure/time-log.schema.js';

export { TimeLogService } from './application/time-log.service.js';
export { Page } from './domain/page.js';
export { Period } from './domain/period.js';
export { TimeLogIds } from './domain/time-log-ids.js';
export { type TimeLogFilter, type TimeLogPage, TimeLogRepository } from './domain/time-log.repository.js';
export { TimeLog, type TimeLogValues } from './domain/time-log.js';
export { TimeLogModule } from './time-log.module.js';

/** What a DataSource must know to keep time logs. */
export const timeLogEntities = [TimeLogSchema];
/** What makes their tables, in order. */
export const timeLogMigrations = [CreateTimeLogs1763683200000];
