import {
  criteriaOfChecked,
  type ListCriteria,
  type ListTimeLogsDto,
  PageRequest,
  Period,
} from '../../../src/time-log/index.js';

/** Returns the filter and the page of a query in a route of a host. Throws DomainError VALIDATION_ERROR. */
export function criteriaOf(query: ListTimeLogsDto): ListCriteria {
  Period.of(query.from, query.to);
  PageRequest.of(Number(query.page), Number(query.limit));
  return criteriaOfChecked(query);
}
