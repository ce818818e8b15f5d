import { type Fault, faultOf } from '../../../libs/errors/src/domain-error.js';
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
 * The property that the logs of a group share: their project, day, week (ISO 8601, from Monday) or month, or
 * their project and one of these periods.
 */
export type Grouping = (typeof GROUPINGS)[number];

/** Returns the fault of an invalid grouping, or undefined. */
export function groupingFault(value: unknown): Fault | undefined {
  if ((GROUPINGS as readonly unknown[]).includes(value)) return undefined;
  const text = 'must be project, day, week or month, or project and a period, such as project,month';
  return faultOf('by', value, 'choice', text, { values: GROUPINGS });
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

/** The sum of a group of any grouping. */
export type GroupSum = ProjectSum | PeriodSum | (ProjectSum & PeriodSum);

/** The sums of logs, all from one snapshot. */
export interface Totals {
  /** The sum of all matching logs. */
  readonly whole: Sum;
  /**
   * The groups of the page, none of them empty: projects by sum, the largest first; periods newest first, those
   * of each project by its id.
   */
  readonly groups: readonly GroupSum[];
  /** The number of groups on all pages; 0 without a grouping. */
  readonly groupCount: number;
}
