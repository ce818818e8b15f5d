import { Rule } from '../../../libs/strict-request/src/index.js';
import { DEFAULT_PAGE, PageRequest, pageLimitFault, pageNumberFault } from '../domain/page-request.js';
import { Period } from '../domain/period.js';
import type { AttributeValues } from '../domain/time-log-access.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';
import { projectIdsIn } from '../domain/time-log.rules.js';
import { TimeLogFilterDto } from './time-log-filter.dto.js';

/** The query of a list, as text. Error messages follow the order of these fields. */
export class ListTimeLogsDto extends TimeLogFilterDto {
  @Rule(pageNumberFault)
  page = String(DEFAULT_PAGE.number);

  @Rule(pageLimitFault)
  limit = String(DEFAULT_PAGE.limit);
}

/** The filter and the page of a list. */
export interface ListCriteria {
  readonly filter: TimeLogFilter;
  readonly page: PageRequest;
}

/**
 * Returns the filter and the page of a query, with the values of attributes that it names. Throws DomainError
 * VALIDATION_ERROR.
 */
export function criteriaOf(query: ListTimeLogsDto, attributes?: unknown): ListCriteria {
  return { filter: filterIn(query, attributes), page: PageRequest.of(query.page, query.limit) };
}

/** Returns the filter of a query. Throws like `criteriaOf`. */
export function filterIn({ projectId, from, to }: TimeLogFilterDto, attributes?: unknown): TimeLogFilter {
  return {
    projectIds: projectId === undefined ? undefined : projectIdsIn(projectId.split(',')),
    period: Period.of(from, to),
    attributes: attributes as AttributeValues | undefined,
  };
}
