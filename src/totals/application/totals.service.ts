import { accessToMatching, type CallOptions } from '../../time-log/application/call-options.js';
import { DEFAULT_PAGE, PageRequest } from '../../time-log/domain/page-request.js';
import type { TimeLogFilter } from '../../time-log/domain/time-log.repository.js';
import type { TotalsRepository } from '../domain/totals.repository.js';
import type { Grouping, Totals } from '../domain/totals.js';

/** Counts and adds up time logs, for HTTP, messages and the code of a host. */
export class TotalsService {
  constructor(private readonly repository: TotalsRepository) {}

  /**
   * Returns the number of matching logs and the exact sum of their durations, and with a grouping those of
   * one page of groups. Throws DomainError FORBIDDEN if the filter names a project that the caller may not
   * access, or SERVICE_UNAVAILABLE.
   */
  async totals(
    filter: TimeLogFilter,
    by?: Grouping,
    page: PageRequest = PageRequest.of(DEFAULT_PAGE.number, DEFAULT_PAGE.limit),
    options: CallOptions = {},
  ): Promise<Totals> {
    return this.repository.totals(filter, by, page, accessToMatching(filter, options), options.caller?.id);
  }
}
