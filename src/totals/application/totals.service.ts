import { type CallOptions, readArguments } from '../../time-log/application/access.js';
import { AttributeRules } from '../../time-log/domain/attribute-rules.js';
import type { PageInput, TimeLogFilterInput } from '../../time-log/domain/time-log-query.js';
import { type TotalsRepository, attributeOf, type Grouping, type Totals } from '../domain/totals.js';

/** Counts and adds up time logs, for HTTP, messages and the code of a host. */
export class TotalsService {
  constructor(
    private readonly repository: TotalsRepository,
    private readonly attributeRules: AttributeRules = new AttributeRules(),
  ) {}

  /**
   * Returns the number of matching logs and the exact sum of their durations, and with a grouping those of
   * one page of groups. Throws DomainError VALIDATION_ERROR, FORBIDDEN if the filter names a project that the
   * caller may not access, or SERVICE_UNAVAILABLE.
   */
  async totals(
    filter?: TimeLogFilterInput,
    by?: Grouping,
    page?: PageInput,
    options: CallOptions = {},
  ): Promise<Totals> {
    const attribute = attributeOf(by, this.attributeRules.filters);
    const [matching, onPage, access, callerId] = readArguments(filter, page, options, this.attributeRules);
    return this.repository.totals(matching, by, onPage, access, callerId, attribute);
  }
}
