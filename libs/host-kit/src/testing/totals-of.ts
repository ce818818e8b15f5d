import type { CalendarDate, PageRequest, Period, TimeLog } from '../../../../src/time-log/index.js';
import type { Grouping, GroupSum, Sum, Totals } from '../../../../src/totals/index.js';

/** The decimals of the smallest double: every duration is an integer multiple of 10^-324. */
const DECIMALS = 324;
const DAY_MS = 86_400_000;
const LAST_DAY = '9999-12-31';

type Step = 'day' | 'week' | 'month';

/** Returns the totals of logs that match a filter with this period. */
export function totalsOf(
  logs: readonly TimeLog[],
  period: Period,
  grouping: Grouping | undefined,
  { limit, offset }: PageRequest,
): Totals {
  const groups = grouping === undefined ? [] : groupsOf(logs, period, grouping);
  const start = Number(offset);
  return { whole: sumOf(logs), groups: groups.slice(start, start + limit), groupCount: groups.length };
}

function groupsOf(logs: readonly TimeLog[], period: Period, grouping: Grouping): GroupSum[] {
  if (grouping === 'project') {
    return [...groupedBy(({ projectId }) => projectId, logs)]
      .map(([projectId, own]) => ({ projectId, own, size: own.reduce(plus, 0n) }))
      .sort((a, b) => descending(a.size, b.size) || descending(b.projectId, a.projectId))
      .map(({ projectId, own }) => ({ projectId, ...sumOf(own) }));
  }
  const step = grouping.replace('project,', '') as Step;
  if (step !== grouping) {
    return [...groupedBy(({ projectId }) => projectId, logs)]
      .sort(([a], [b]) => descending(b, a))
      .flatMap(([projectId, own]) => groupsOf(own, period, step).map((group) => ({ projectId, ...group })));
  }
  return [...groupedBy(({ date }) => firstDayOf(date, step), logs)]
    .sort(([a], [b]) => descending(a, b))
    .map(([first, own]) => ({ ...clip(first, lastDayOf(first, step), period), ...sumOf(own) }));
}

function groupedBy(keyOf: (log: TimeLog) => string, logs: readonly TimeLog[]): Map<string, TimeLog[]> {
  const groups = new Map<string, TimeLog[]>();
  for (const log of logs) {
    const key = keyOf(log);
    const group = groups.get(key);
    if (group) group.push(log);
    else groups.set(key, [log]);
  }
  return groups;
}

function firstDayOf(date: CalendarDate, step: Step): CalendarDate {
  if (step === 'month') return `${date.slice(0, 7)}-01`;
  // Sunday is 0.
  const daysSinceMonday = step === 'week' ? (new Date(date).getUTCDay() + 6) % 7 : 0;
  return dayAfter(date, -daysSinceMonday);
}

function lastDayOf(first: CalendarDate, step: Step): CalendarDate {
  if (step !== 'month') return dayAfter(first, step === 'week' ? 6 : 0);
  const month = new Date(first);
  return dayAfter(first, new Date(month.setUTCMonth(month.getUTCMonth() + 1, 0)).getUTCDate() - 1);
}

function dayAfter(date: CalendarDate, days: number): CalendarDate {
  const time = Math.min(Date.parse(date) + days * DAY_MS, Date.parse(LAST_DAY));
  return new Date(time).toISOString().slice(0, LAST_DAY.length);
}

function clip(first: CalendarDate, last: CalendarDate, { from = first, to = last }: Period) {
  return { from: first < from ? from : first, to: last > to ? to : last };
}

function sumOf(logs: readonly TimeLog[]): Sum {
  return { count: logs.length, duration: decimalOf(logs.reduce(plus, 0n)) };
}

/** Adds the shortest decimal of a double, such as `0.1` or `1.5e-7`. */
function plus(sum: bigint, { duration }: TimeLog): bigint {
  const [number = '', exponent = '0'] = String(duration).split('e');
  const [whole = '', fraction = ''] = number.split('.');
  return sum + BigInt(whole + fraction) * 10n ** BigInt(DECIMALS + Number(exponent) - fraction.length);
}

function decimalOf(sum: bigint): string {
  const digits = String(sum).padStart(DECIMALS + 1, '0');
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '');
  return digits.slice(0, -DECIMALS) + (fraction === '' ? '' : `.${fraction}`);
}

/** Compares values for descending order. */
export function descending<T extends bigint | string>(a: T, b: T): number {
  return a < b ? 1 : a > b ? -1 : 0;
}
