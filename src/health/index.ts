import { HealthModule } from './health.module.js';

/** The module, as the service binds it. */
export const health = { bind: () => HealthModule };
