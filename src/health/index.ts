export { HEALTH_TAG } from './health.documentation.js';
export { HealthModule } from './health.module.js';
