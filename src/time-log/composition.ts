import type { Provider } from '@nestjs/common';
import { feed } from '../feed/composition.js';
import { timeLogEntities } from './infrastructure/time-log.entities.js';
import type { TimeLogLimits } from './time-log.limits.js';
import { timeLogMigrations } from './time-log.migrations.js';
import { TimeLogModule } from './time-log.module.js';
import { timeLogScopes } from './time-log.scopes.js';

interface Settings {
  readonly limits: TimeLogLimits;
  readonly attributes: { readonly providers: readonly Provider[] } | undefined;
}

/** Time logs, as the service uses them. */
export const timeLogs = {
  prefix: 'api/v1',
  bind: ({ limits, attributes }: Settings) => TimeLogModule.forRoot({ limits }, attributes?.providers),
  entities: timeLogEntities,
  migrations: timeLogMigrations,
  ...feed,
  scopes: timeLogScopes,
};
