import { HEALTH_TAG } from './health.documentation.js';
import { HealthModule } from './health.module.js';

/** The module, as the service binds it. */
export const health = { bind: () => HealthModule, tags: [HEALTH_TAG] };
