import {
  filterOf,
  type ListCriteria,
  type ListTimeLogsDto,
  PageRequest,
} from '../../../src/time-log/index.js';

/** Returns the filter and the page of a query in a route of a host. Throws DomainError VALIDATION_ERROR. */
export function criteriaOf({ projectId, from, to, page, limit }: ListTimeLogsDto): ListCriteria {
  const filter = filterOf({ projectIds: projectId?.split(','), period: { from, to } });
  return { filter, page: PageRequest.of(page, limit) };
}
