import { throwFaults } from '../../../libs/errors/src/domain-error.js';
import type { TimeLogAttributes } from './attributes.js';
import { Period } from './period.js';
import type { AttributeValues } from './time-log-access.js';
import type { TimeLogFilter } from './time-log.repository.js';
import { checkedProjectIds, membersFault } from './time-log.rules.js';

/** A filter as the code of a host passes it. Without one all logs match. */
export interface TimeLogFilterInput {
  /** At most 100 UUIDs; all projects by default. */
  readonly projectIds?: readonly string[] | undefined;
  /** Days or timestamps, both ends included; all days by default. */
  readonly period?: Partial<Pick<Period, 'from' | 'to'>> | undefined;
  /** Values of up to 3 attributes that the schema declares as filters. */
  readonly attributes?: AttributeValues | undefined;
}

/** A filter that is checked. */
export class CheckedFilter implements TimeLogFilter {
  constructor(
    readonly projectIds: readonly string[] | undefined,
    readonly period: Period,
    readonly attributes?: AttributeValues,
  ) {}
}

/** Returns the filter of a call. Throws DomainError VALIDATION_ERROR: a filter is never ignored. */
export function filterOf(filter: TimeLogFilterInput = {}, attributes?: TimeLogAttributes): TimeLogFilter {
  if (filter instanceof CheckedFilter) return filter;
  const members = ['projectIds', 'period', ...(attributes?.filters.size ? ['attributes'] : [])];
  throwFaults([membersFault('filter', filter, members)]);
  const { projectIds, period = {}, attributes: values } = filter;
  const checked = [checkedProjectIds(projectIds), periodOf(period)] as const;
  throwFaults(values === undefined ? [] : attributes!.filterFaults(values));
  return new CheckedFilter(...checked, values);
}

function periodOf(period: Partial<Pick<Period, 'from' | 'to'>>): Period {
  if (period instanceof Period) return period;
  throwFaults([membersFault('period', period, ['from', 'to'])]);
  return Period.of(period.from, period.to);
}
