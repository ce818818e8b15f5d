/** The scope for reading metrics. */
export const READ_METRICS = 'metrics:read';

/** The scopes of the module. The OpenAPI document says what each allows. */
export const metricsScopes = [{ name: READ_METRICS }];
