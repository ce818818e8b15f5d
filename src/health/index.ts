import { HealthModule } from './health.module.js';

/** The ServiceModule of the health checks. */
export const health = { bind: () => HealthModule };
