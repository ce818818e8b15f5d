import { type Fault, faultOf, throwFaults } from '../../../libs/errors/src/domain-error.js';
import {
  type AttributeFilters,
  AttributeRules,
  type AttributeValues,
  type MatchedValues,
} from './attribute-rules.js';
import { type CalendarDate, isCalendarDate, requireProjectIds } from './time-log.rules.js';

/** A filter for logs: all or those of some projects, within a period of days. */
export interface TimeLogFilter {
  /** Different ids in lower case; all projects by default. */
  readonly projectIds?: readonly string[] | undefined;
  readonly period: Period;
  /** The values that the attributes of the logs must have. */
  readonly attributes?: MatchedValues | undefined;
}

/** The logs that a caller may read and change: those of these projects, and with all of these attributes. */
export interface TimeLogAccess {
  /** Ids in lower case; undefined: all projects. */
  readonly projects?: readonly string[] | undefined;
  readonly attributes?: AttributeValues | undefined;
}

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
  return { projectIds: projectIds && requireProjectIds(projectIds), period: days, attributes: matched };
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

const DIGITS = /^\d+$/;

/** The maximum number of items of a page. */
export const MAX_PAGE_LIMIT = 1000;
/** The default page. */
export const DEFAULT_PAGE = { number: 1, limit: 50 };

/** A page of a list. Numbers start at 1; the limit is the maximum number of its items. */
export class PageRequest {
  private constructor(
    readonly number: number,
    readonly limit: number,
  ) {}

  /** Returns a page. Throws DomainError VALIDATION_ERROR unless both are whole numbers in range, or their digits. */
  static of(number: number | string, limit: number | string): PageRequest {
    throwFaults([pageNumberFault(number), pageLimitFault(limit)]);
    return new PageRequest(Number(number), Number(limit));
  }

  /** The number of items before this page, up to 2^53 times 1000: too large for a number. */
  get offset(): bigint {
    return BigInt(this.number - 1) * BigInt(this.limit);
  }
}

/** A page as the code of a host passes it. The default is the first page of 50 items. */
export type PageInput = Partial<Pick<PageRequest, keyof typeof DEFAULT_PAGE>>;

/** Returns the page of a call. Throws DomainError VALIDATION_ERROR. */
export function pageOf(page: PageInput = {}): PageRequest {
  if (page instanceof PageRequest) return page;
  return PageRequest.of(page.number ?? DEFAULT_PAGE.number, page.limit ?? DEFAULT_PAGE.limit);
}

/** Returns the fault of a page number, or of its text, or undefined. */
export function pageNumberFault(value: unknown): Fault | undefined {
  return wholeNumberFault('page', value, Number.MAX_SAFE_INTEGER, '2^53-1');
}

/** Returns the fault of a limit, or of its text, or undefined. */
export function pageLimitFault(value: unknown): Fault | undefined {
  return wholeNumberFault('limit', value, MAX_PAGE_LIMIT);
}

function wholeNumberFault(name: string, value: unknown, max: number, end = String(max)): Fault | undefined {
  const isWhole = typeof value === 'string' ? DIGITS.test(value) : Number.isInteger(value);
  if (isWhole && Number(value) >= 1 && Number(value) <= max) return undefined;
  return faultOf(name, value, 'range', `must be a whole number from 1 to ${end}`, { min: 1, max });
}
