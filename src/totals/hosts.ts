/* The public names for host applications. The index is for internal modules and may change with them. */

export { TotalsService } from './application/totals.service.js';
export { type Grouping, type Totals } from './domain/totals.js';
export { totalsResponse } from './api/time-log-totals.js';
export { TotalTimeLogsDto } from './api/total-time-logs.dto.js';
