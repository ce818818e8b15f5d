import { type RequestState, Rule } from '../../../libs/strict-request/src/index.js';
import { DEFAULT_PAGE, PageRequest, pageLimitFault, pageNumberFault } from '../domain/page-request.js';
import { Period } from '../domain/period.js';
import type { AttributeValues } from '../domain/time-log-access.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';
import { CheckedFilter } from '../domain/time-log-filter.js';
import { projectIdsOf } from '../domain/time-log.rules.js';
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

/** Returns the filter and the page of a query that its DTO has checked. */
export function criteriaOfChecked(query: ListTimeLogsDto, state: RequestState): ListCriteria {
  const { page, limit } = query;
  return { filter: filterOfChecked(query, state), page: PageRequest.ofChecked(Number(page), Number(limit)) };
}

/** Returns the filter of a query that its DTO has checked. The values of attributes are extra parameters. */
export function filterOfChecked(
  { projectId, from, to }: TimeLogFilterDto,
  { extraValues }: RequestState,
): TimeLogFilter {
  const projectIds = projectId === undefined ? undefined : projectIdsOf(projectId);
  return new CheckedFilter(
    projectIds,
    Period.ofChecked(from, to),
    extraValues as AttributeValues | undefined,
  );
}
