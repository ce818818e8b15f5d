import { accessTo, type CallOptions } from '../../time-log/application/call.js';
import { DEFAULT_PAGE, PageRequest } from '../../time-log/domain/page-request.js';
import type { TimeLogFilter } from '../../time-log/domain/time-log.repository.js';
import type { TotalsRepository } from '../domain/totals.repository.js';
import type { Grouping, Totals } from '../domain/totals.js';

/** Counts and sums of time logs, for HTTP, messages and the code of a host. */
export class TotalsService {
  constructor(private readonly repository: TotalsRepository) {}

  /**
   * Returns how many logs match, and the exact sum of their durations: of all, and of the groups of a page if a
   * grouping is given. Throws DomainError FORBIDDEN if the caller names a project beyond the access of the call, or
   * SERVICE_UNAVAILABLE.
   */
  async totals(
    filter: TimeLogFilter,
    by?: Grouping,
    page: PageRequest = PageRequest.of(DEFAULT_PAGE.number, DEFAULT_PAGE.limit),
    options: CallOptions = {},
  ): Promise<Totals> {
    return this.repository.totals(filter, by, page, accessTo(filter, options), options.caller?.id);
  }
}
