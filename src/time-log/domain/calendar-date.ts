/** A day as text, `YYYY-MM-DD`, years 0001 to 9999. It is never anything but text: no time zone can shift it. */
export type CalendarDate = string;

const FORM = /^(\d{4})-(\d{2})-(\d{2})$/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** True for a day that exists in the Gregorian calendar. */
export function isCalendarDate(value: unknown): value is CalendarDate {
  const parts = typeof value === 'string' ? FORM.exec(value) : null;
  if (!parts) return false;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysOf(month, year);
}

function daysOf(month: number, year: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && isLeap ? 29 : DAYS[month - 1]!;
}
