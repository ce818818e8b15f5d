import { Omittable, Rule } from '../../../libs/strict-request/src/index.js';
import {
  DEFAULT_PAGE,
  pageLimitFault,
  pageNumberFault,
  PageRequest,
  Period,
  periodEndFault,
  periodOrderFault,
  type TimeLogFilter,
} from '../domain/time-log-query.js';
import type { AttributeValues } from '../domain/attribute-rules.js';
import { projectIdsFault, projectIdsOf } from '../domain/time-log.rules.js';

/** The filter of a query, as text. Error messages follow the order of these fields. */
export class TimeLogFilterDto {
  @Omittable()
  @Rule(projectIdsFault)
  projectId?: string;

  @Omittable()
  @Rule((value) => periodEndFault('from', value))
  @Rule((value, { to }: TimeLogFilterDto) => periodOrderFault(value, to))
  from?: string;

  @Omittable()
  @Rule((value) => periodEndFault('to', value))
  to?: string;

  /** Returns the values of attributes that the query names; undefined if there are none. */
  declare attributes?: () => AttributeValues;
}

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

/** Returns the filter and the page of a valid query. */
export function criteriaOf(query: ListTimeLogsDto): ListCriteria {
  return { filter: filterIn(query), page: PageRequest.of(query.page, query.limit) };
}

/** Returns the filter of a valid query. */
export function filterIn({ projectId, from, to, attributes }: TimeLogFilterDto): TimeLogFilter {
  return {
    projectIds: projectId === undefined ? undefined : projectIdsOf(projectId),
    period: Period.of(from, to),
    attributes: attributes?.(),
  };
}
