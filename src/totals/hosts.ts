/* The public names for host applications. The index is for internal modules and may change with them. */

export { TotalsService } from './application/totals.service.js';
export { type Totals } from './domain/totals.js';
