import { throwFaults } from '../../../libs/errors/src/domain-error.js';
import { type AttributeFilters, AttributeRules } from './attribute-rules.js';
import { Period } from './period.js';
import type { MatchedValues } from './time-log-access.js';
import type { TimeLogFilter } from './time-log.repository.js';
import { projectIdsIn } from './time-log.rules.js';

/** A filter as the code of a host passes it. Without one all logs match. */
export interface TimeLogFilterInput {
  /** At most 100 UUIDs; all projects by default. */
  readonly projectIds?: readonly string[] | undefined;
  /** Days or timestamps, both ends included; all days by default. */
  readonly period?: Partial<Pick<Period, 'from' | 'to'>> | undefined;
  /** Values of up to 3 attributes; of an array, one of its texts. */
  readonly attributes?: MatchedValues | undefined;
}

/** Returns the filter of a call. Throws DomainError VALIDATION_ERROR: a filter is never ignored. */
export function filterOf(
  { projectIds, period = {}, attributes }: TimeLogFilterInput = {},
  known: Pick<AttributeRules, 'filterFaults' | 'filters'> = NO_ATTRIBUTES,
): TimeLogFilter {
  throwFaults(known.filterFaults(attributes));
  const days = period instanceof Period ? period : Period.of(period.from, period.to);
  const matched = attributes && matchedValues(attributes, known.filters);
  return { projectIds: projectIds && projectIdsIn(projectIds), period: days, attributes: matched };
}

/** Returns the values that logs must have: an array must contain the text. */
function matchedValues(values: MatchedValues, types: AttributeFilters): MatchedValues {
  const matched = Object.entries(values).map(([name, value]) => [
    name,
    types.get(name) === 'strings' ? [value] : value,
  ]);
  return Object.fromEntries(matched) as MatchedValues;
}

const NO_ATTRIBUTES = new AttributeRules();
