export { TotalsService } from './application/totals.service.js';
export { type Grouping, GROUPINGS, type GroupSum, type Sum, type Totals } from './domain/totals.js';
export { TypeOrmTotalsRepository } from './infrastructure/typeorm-totals.repository.js';
export { totalsResponse } from './api/time-log-totals.js';
export { TotalTimeLogsDto } from './api/total-time-logs.dto.js';
export { TOTALS } from './totals.providers.js';
