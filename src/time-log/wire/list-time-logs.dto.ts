import { Rule } from '../../../libs/strict-request/src/index.js';
import { DEFAULT_PAGE, PageRequest, pageLimitFault, pageNumberFault } from '../domain/page-request.js';
import { Period } from '../domain/period.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';
import { TimeLogFilterDto } from './time-log-filter.dto.js';

/** The query of a list, as text. Messages follow the order of these fields. */
export class ListTimeLogsDto extends TimeLogFilterDto {
  @Rule(pageNumberFault)
  page = String(DEFAULT_PAGE.number);

  @Rule(pageLimitFault)
  limit = String(DEFAULT_PAGE.limit);
}

/** The list, or the totals, that a validated query asks for. */
export function criteriaOf(query: ListTimeLogsDto): { filter: TimeLogFilter; page: PageRequest } {
  return {
    filter: { projectId: query.projectId?.toLowerCase(), period: Period.of(query.from, query.to) },
    page: PageRequest.of(Number(query.page), Number(query.limit)),
  };
}
