import { Rule } from '../../../libs/strict-request/src/index.js';
import { DEFAULT_PAGE, PageRequest, pageLimitFault, pageNumberFault } from '../domain/page-request.js';
import { Period } from '../domain/period.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';
import { TimeLogFilterDto } from './time-log-filter.dto.js';

/** The query of a list, as text. Error messages follow the order of these fields. */
export class ListTimeLogsDto extends TimeLogFilterDto {
  @Rule(pageNumberFault)
  page = String(DEFAULT_PAGE.number);

  @Rule(pageLimitFault)
  limit = String(DEFAULT_PAGE.limit);
}

/** Returns the filter and the page of a validated query. */
export function criteriaOf(query: ListTimeLogsDto): { filter: TimeLogFilter; page: PageRequest } {
  return {
    filter: { projectId: query.projectId?.toLowerCase(), period: Period.of(query.from, query.to) },
    page: PageRequest.of(Number(query.page), Number(query.limit)),
  };
}
