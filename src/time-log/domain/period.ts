import { type Fault, faultOf, throwFaults } from '../../../libs/errors/src/domain-error.js';
import { type CalendarDate, isCalendarDate } from './time-log.rules.js';

const DAY_LENGTH = 10;
const TIME_OF_DAY = /^[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:[Zz]|[+\- ](\d{2}):(\d{2}))?$/;

/** The forms of timestamps, for messages. */
const TIMESTAMP_FORM = 'YYYY-MM-DDThh:mm[:ss[.fraction]][Z|+hh:mm|-hh:mm]';

/** A range of whole days, both ends included. A missing end is open. */
export class Period {
  private constructor(
    readonly from: CalendarDate | undefined,
    readonly to: CalendarDate | undefined,
  ) {}

  /** Accepts days or timestamps. Throws DomainError VALIDATION_ERROR for others, or if `from` is after `to`. */
  static of(from?: string, to?: string): Period {
    throwFaults([
      from === undefined ? undefined : periodEndFault('from', from),
      to === undefined ? undefined : periodEndFault('to', to),
      periodOrderFault(from, to),
    ]);
    return new Period(from?.slice(0, DAY_LENGTH), to?.slice(0, DAY_LENGTH));
  }
}

/** Returns the fault of one end of a period, or undefined. */
export function periodEndFault(name: 'from' | 'to', value: unknown): Fault | undefined {
  if (calendarDayOf(value)) return undefined;
  const text = `must be an existing day, as YYYY-MM-DD or ${TIMESTAMP_FORM} with hh from 00 to 23`;
  return faultOf(name, value, 'date', text);
}

/** Returns the fault of ends in the wrong order, or undefined. Ignores an end that is not a day. */
export function periodOrderFault(from: unknown, to: unknown): Fault | undefined {
  const [first, last] = [calendarDayOf(from), calendarDayOf(to)];
  return first && last && first > last ? faultOf('from', from, 'order', 'must not be after to') : undefined;
}

/** Returns the calendar day of a day or timestamp as written. The offset does not shift it. */
function calendarDayOf(value: unknown): CalendarDate | undefined {
  if (typeof value !== 'string') return undefined;
  const day = value.slice(0, DAY_LENGTH);
  return isCalendarDate(day) && (value.length === DAY_LENGTH || isTimeOfDay(value.slice(DAY_LENGTH)))
    ? day
    : undefined;
}

/** Checks the ranges of RFC 3339, section 5.6. Second 60 is a leap second. */
function isTimeOfDay(text: string): boolean {
  const parts = TIME_OF_DAY.exec(text);
  if (!parts) return false;
  const [hour, minute, second, offsetHour, offsetMinute] = parts
    .slice(1)
    .map((part: string | undefined) => Number(part ?? 0));
  return hour! <= 23 && minute! <= 59 && second! <= 60 && offsetHour! <= 23 && offsetMinute! <= 59;
}
