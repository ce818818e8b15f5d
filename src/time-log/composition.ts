import { TIME_LOGS_TAG } from './api/time-log.documentation.js';
import { IDEMPOTENCY_KEY_REUSED } from './domain/idempotency-key.js';
import { FEED_GONE } from './domain/time-log-event.js';
import {
  keepTimeLogPositions,
  unreachedTimeLogPosition,
} from './infrastructure/feed/keep-time-log-positions.js';
import { timeLogEntities } from './infrastructure/time-log.entities.js';
import type { TimeLogLimits } from './time-log.limits.js';
import { timeLogMigrations } from './time-log.migrations.js';
import { TimeLogModule } from './time-log.module.js';
import { timeLogScopes } from './time-log.scopes.js';

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
