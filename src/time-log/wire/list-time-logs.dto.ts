import { Obeys, Omittable } from '../../../libs/strict-request/src/index.js';
import { DEFAULT_PAGE, Page, pageLimitFault, pageNumberFault } from '../domain/page.js';
import { Period, periodEndFault, periodOrderFault } from '../domain/period.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';
import { projectIdFault } from '../domain/time-log.rules.js';

/** The query of a list, as text. Messages follow the order of these fields. */
export class ListTimeLogsDto {
  @Omittable()
  @Obeys(projectIdFault)
  projectId?: string;

  @Omittable()
  @Obeys((value) => periodEndFault('from', value))
  @Obeys((value, { to }: ListTimeLogsDto) => periodOrderFault(value, to))
  from?: string;

  @Omittable()
  @Obeys((value) => periodEndFault('to', value))
  to?: string;

  @Obeys(pageNumberFault)
  page = String(DEFAULT_PAGE.number);

  @Obeys(pageLimitFault)
  limit = String(DEFAULT_PAGE.limit);
}

/** The list that a validated query asks for. */
export function criteriaOf(query: ListTimeLogsDto): { filter: TimeLogFilter; page: Page } {
  return {
    filter: { projectId: query.projectId?.toLowerCase(), period: Period.of(query.from, query.to) },
    page: Page.of(Number(query.page), Number(query.limit)),
  };
}
