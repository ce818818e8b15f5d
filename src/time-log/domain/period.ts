import { DomainError } from '../../../libs/errors/src/domain-error.js';
import { type CalendarDate, isCalendarDate } from './calendar-date.js';

const TIME = /^[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:[Zz]|[+\- ](\d{2}):(\d{2}))?$/;

/** A span of whole days, both ends included. A missing end is open. */
export class Period {
  private constructor(
    readonly from: CalendarDate | undefined,
    readonly to: CalendarDate | undefined,
  ) {}

  /**
   * Takes days or timestamps. Throws DomainError VALIDATION_ERROR for anything else, or where `from` is after `to`.
   */
  static of(from?: string, to?: string): Period {
    const faults = [
      from === undefined ? undefined : periodEndFault('from', from),
      to === undefined ? undefined : periodEndFault('to', to),
      periodOrderFault(from, to),
    ].filter((fault) => fault !== undefined);
    if (faults.length > 0) throw new DomainError('VALIDATION_ERROR', faults.join('; '));
    return new Period(dayNamedBy(from), dayNamedBy(to));
  }
}

/** What is wrong with one end of a period, or undefined. */
export function periodEndFault(name: 'from' | 'to', value: unknown): string | undefined {
  return dayNamedBy(value)
    ? undefined
    : `${name} must be an existing day (YYYY-MM-DD) or an ISO 8601 timestamp`;
}

/** What is wrong with the order of the ends, or undefined. An end that is no day is not compared. */
export function periodOrderFault(from: unknown, to: unknown): string | undefined {
  const [first, last] = [dayNamedBy(from), dayNamedBy(to)];
  return first && last && first > last ? 'from must not be after to' : undefined;
}

/** The calendar day in the text of a day or a timestamp. An offset shifts nothing. */
function dayNamedBy(value: unknown): CalendarDate | undefined {
  if (typeof value !== 'string') return undefined;
  const day = value.slice(0, 10);
  return isCalendarDate(day) && (value.length === 10 || isTimeOfDay(value.slice(10))) ? day : undefined;
}

/** Ranges of RFC 3339, section 5.6; second 60 is a leap second. */
function isTimeOfDay(text: string): boolean {
  const parts = TIME.exec(text);
  if (!parts) return false;
  const [hour, minute, second, offsetHour, offsetMinute] = parts
    .slice(1)
    .map((part: string | undefined) => Number(part ?? 0));
  return hour! <= 23 && minute! <= 59 && second! <= 60 && offsetHour! <= 23 && offsetMinute! <= 59;
}
