import { MetricsModule } from './metrics.module.js';
import { metricsScopes } from './metrics.scopes.js';

/** The module, as the service binds it. */
export const metrics = { bind: () => MetricsModule, scopes: metricsScopes };
