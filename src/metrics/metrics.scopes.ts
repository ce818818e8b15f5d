/** The scope for reading metrics. */
export const READ_METRICS = 'metrics:read';

/** The scopes of the module. The OpenAPI document describes them. */
export const metricsScopes = [{ name: READ_METRICS }];
