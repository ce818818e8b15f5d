import type { PageRequest } from '../../time-log/domain/page-request.js';
import type { ProjectAccess } from '../../time-log/domain/project-access.js';
import type { TimeLogFilter } from '../../time-log/domain/time-log.repository.js';
import type { Grouping, Totals } from './totals.js';

/** The port to the store that counts and sums time logs. An adapter must obey the access. */
export abstract class TotalsRepository {
  /**
   * Returns how many logs match, and the exact sum of their durations: of all, and of the groups of a page. Projects
   * come in the order of their sums, the largest first, then by id; periods newest first. `caller` is the id of the
   * client; an adapter uses it to serve callers in rotation. Throws DomainError SERVICE_UNAVAILABLE.
   */
  abstract totals(
    filter: TimeLogFilter,
    grouping: Grouping | undefined,
    page: PageRequest,
    access: ProjectAccess,
    caller?: string,
  ): Promise<Totals>;
}
