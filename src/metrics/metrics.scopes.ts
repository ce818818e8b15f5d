/** The scope for reading metrics. */
export const READ_METRICS = 'metrics:read';

/** The scopes of the module, and what each allows. */
export const metricsScopes = [{ name: READ_METRICS, allows: 'read the metrics of a process' }];
