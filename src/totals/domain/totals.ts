import type { PageRequest, TimeLogAccess, TimeLogFilter } from '../../time-log/domain/time-log-query.js';
import type { AttributeFilters, AttributeType } from '../../time-log/domain/attribute-rules.js';
import { type Fault, faultOf, throwFaults } from '../../../libs/errors/src/domain-error.js';
import type { CalendarDate } from '../../time-log/domain/time-log.rules.js';

/** All groupings. */
export const GROUPINGS = [
  'project',
  'day',
  'week',
  'month',
  'project,day',
  'project,week',
  'project,month',
] as const;

/**
 * The property that the logs of a group share: their project, day, week (ISO 8601, from Monday) or month, an attribute,
 * or their project or an attribute and one of these periods.
 */
export type Grouping = (typeof GROUPINGS)[number] | `attributes.${string}`;

/** An attribute whose values are groups. */
export interface GroupedAttribute {
  readonly name: string;
  readonly type: AttributeType;
}

const BY_ATTRIBUTE = /^attributes\.([A-Za-z][A-Za-z0-9_]*)(?:,(?:day|week|month))?$/;

/** Returns the fault of a grouping, or undefined: its attribute must be one that logs can be filtered by. */
export function groupingFault(value: unknown, filters: AttributeFilters): Fault | undefined {
  if ((GROUPINGS as readonly unknown[]).includes(value)) return undefined;
  if (typeof value === 'string' && filters.has(BY_ATTRIBUTE.exec(value)?.[1] ?? '')) return undefined;
  const text =
    'must be project, day, week, month or attributes.NAME, or one of project and attributes.NAME with a period, such as project,month';
  return faultOf('by', value, 'choice', text, { values: GROUPINGS });
}

/** Returns the attribute of a grouping. Throws DomainError VALIDATION_ERROR if it is not valid, or no filter. */
export function attributeOf(
  by: Grouping | undefined,
  filters: AttributeFilters,
): GroupedAttribute | undefined {
  if (by === undefined) return undefined;
  throwFaults([groupingFault(by, filters)]);
  const [, name] = BY_ATTRIBUTE.exec(by) ?? [];
  return name === undefined ? undefined : { name, type: filters.get(name)! };
}

/** The number of logs and the sum of their durations. */
export interface Sum {
  readonly count: number;
  /**
   * The exact sum as decimal text, such as `31.25`, since a number could lose digits. It has no exponent and
   * no trailing zeros, and is `0` if there are no logs.
   */
  readonly duration: string;
}

/** The sum of one project. */
export interface ProjectSum extends Sum {
  readonly projectId: string;
}

/** The sum of a day, week or month, cut to the requested period and to year 9999. Both ends are included. */
export interface PeriodSum extends Sum {
  readonly from: CalendarDate;
  readonly to: CalendarDate;
}

/**
 * The sum of a value of an attribute. An array has a group for each of its texts. Null are the logs without a value
 * that a filter could have.
 */
export interface AttributeSum extends Sum {
  readonly attributes: Readonly<Record<string, string | number | boolean | null>>;
}

/** The sum of a group of any grouping. */
export type GroupSum =
  ProjectSum | PeriodSum | (ProjectSum & PeriodSum) | AttributeSum | (AttributeSum & PeriodSum);

/** The sums of logs, all from one snapshot. */
export interface Totals {
  /** The sum of all matching logs. */
  readonly whole: Sum;
  /**
   * The groups of the page, none of them empty: projects and values by sum, the largest first, then by id or value;
   * periods newest first, those of each project by its id, those of each value by the value. Null comes last.
   */
  readonly groups: readonly GroupSum[];
  /** The number of groups on all pages; 0 without a grouping. */
  readonly groupCount: number;
}

/** The port to the store that counts and adds up time logs. Logs outside the access count as missing. */
export abstract class TotalsRepository {
  /**
   * Returns the number of matching logs and the exact sum of their durations, in total and for each group
   * of the page. `attribute` is the one by which the grouping groups. `callerId` is the id of the client: limits are
   * shared among callers. Throws DomainError SERVICE_UNAVAILABLE.
   */
  abstract totals(
    filter: TimeLogFilter,
    grouping: Grouping | undefined,
    page: PageRequest,
    access: TimeLogAccess,
    callerId?: string,
    attribute?: GroupedAttribute,
  ): Promise<Totals>;
}
