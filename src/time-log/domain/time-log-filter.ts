import { throwFaults } from '../../../libs/errors/src/domain-error.js';
import { TimeLogAttributes } from './attributes.js';
import { Period } from './period.js';
import type { AttributeValues } from './time-log-access.js';
import type { TimeLogFilter } from './time-log.repository.js';
import { projectIdsIn } from './time-log.rules.js';

/** A filter as the code of a host passes it. Without one all logs match. */
export interface TimeLogFilterInput {
  /** At most 100 UUIDs; all projects by default. */
  readonly projectIds?: readonly string[] | undefined;
  /** Days or timestamps, both ends included; all days by default. */
  readonly period?: Partial<Pick<Period, 'from' | 'to'>> | undefined;
  /** Values of up to 3 attributes that the schema declares as filters. */
  readonly attributes?: AttributeValues | undefined;
}

/** Returns the filter of a call. Throws DomainError VALIDATION_ERROR: a filter is never ignored. */
export function filterOf(
  { projectIds, period = {}, attributes }: TimeLogFilterInput = {},
  known: Pick<TimeLogAttributes, 'filterFaults'> = NO_ATTRIBUTES,
): TimeLogFilter {
  throwFaults(known.filterFaults(attributes));
  const days = period instanceof Period ? period : Period.of(period.from, period.to);
  return { projectIds: projectIds && projectIdsIn(projectIds), period: days, attributes };
}

const NO_ATTRIBUTES = new TimeLogAttributes();
