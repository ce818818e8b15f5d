import type { PageRequest } from '../../time-log/domain/page-request.js';
import type { TimeLogAccess } from '../../time-log/domain/time-log-access.js';
import type { TimeLogFilter } from '../../time-log/domain/time-log.repository.js';
import type { GroupedAttribute, Grouping, Totals } from './totals.js';

/** The port to the store that counts and adds up time logs. Logs outside the access count as missing. */
export abstract class TotalsRepository {
  /**
   * Returns the number of matching logs and the exact sum of their durations, in total and for each group
   * of the page. Projects are ordered by their sums, the largest first, then by id; periods newest first;
   * groups by project and period by the id of the project, then newest first.
   * Values of `attribute`, by which the grouping groups, are ordered like projects, and null comes last.
   * `caller` is the id of the client: limits are shared among callers. Throws DomainError
   * SERVICE_UNAVAILABLE.
   */
  abstract totals(
    filter: TimeLogFilter,
    grouping: Grouping | undefined,
    page: PageRequest,
    access: TimeLogAccess,
    caller?: string,
    attribute?: GroupedAttribute,
  ): Promise<Totals>;
}
