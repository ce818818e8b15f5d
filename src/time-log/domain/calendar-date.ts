/** A day as text, `YYYY-MM-DD`, years 0001 to 9999. As text it cannot be shifted by a time zone. */
export type CalendarDate = string;

const DATE_PATTERN = /^(\d{4})-(\d{2})-(\d{2})$/;
const DAYS_OF_MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Returns whether a value is a day that exists in the Gregorian calendar. */
export function isCalendarDate(value: unknown): value is CalendarDate {
  const parts = typeof value === 'string' ? DATE_PATTERN.exec(value) : null;
  if (!parts) return false;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(month, year);
}

function daysInMonth(month: number, year: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && isLeap ? 29 : DAYS_OF_MONTHS[month - 1]!;
}
