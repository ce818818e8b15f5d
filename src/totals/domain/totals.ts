import type { CalendarDate } from '../../time-log/domain/calendar-date.js';

/** What groups can be made by. */
export const GROUPINGS = ['project', 'day', 'week', 'month'] as const;

/** What the logs of a group have in common: their project, or their day, week (ISO 8601, from Monday) or month. */
export type Grouping = (typeof GROUPINGS)[number];

/** What is wrong with the text of a grouping, or undefined. */
export function groupingFault(value: unknown): string | undefined {
  return (GROUPINGS as readonly unknown[]).includes(value)
    ? undefined
    : 'by must be project, day, week or month';
}

/** How many logs there are, and how long they took together. */
export interface Sum {
  readonly count: number;
  /**
   * The exact sum as decimal text, such as `31.25`: no exponent, no zeros at the end, `0` where there are no logs. A
   * number could not hold it.
   */
  readonly duration: string;
}

/** The logs of one project. */
export interface ProjectSum extends Sum {
  readonly projectId: string;
}

/**
 * The logs of a day, week or month. Both ends are included, and within the period that was asked for, and year 9999.
 */
export interface PeriodSum extends Sum {
  readonly from: CalendarDate;
  readonly to: CalendarDate;
}

/** What logs come to, all at the same moment. */
export interface Totals {
  /** All logs that match. */
  readonly whole: Sum;
  /** The groups of the page, none of them empty: of projects the longest first, of periods the newest. */
  readonly groups: readonly (ProjectSum | PeriodSum)[];
  /** How many groups there are, on all pages; 0 where nobody asked for groups. */
  readonly groupCount: number;
}
