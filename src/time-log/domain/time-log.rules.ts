import { MAX_PROJECTS, UUID, UUID_PATTERN } from '../../../libs/auth/src/project-ids.js';
import { type Fault, faultOf, throwFaults } from '../../../libs/errors/src/domain-error.js';

/** The maximum number of code points of a description. */
export const MAX_DESCRIPTION_LENGTH = 5000;

/** A regular expression for the projects of a filter. */
const UUIDS_PATTERN = `${UUID_PATTERN}(,${UUID_PATTERN}){0,${MAX_PROJECTS - 1}}`;
const UUIDS = new RegExp(`^${UUIDS_PATTERN}$`);

/** A day as text, `YYYY-MM-DD`, years 0001 to 9999. As text it cannot be shifted by a time zone. */
export type CalendarDate = string;

const DATE_PATTERN = /^(\d{4})-(\d{2})-(\d{2})$/;
const DAYS_OF_MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

// Each rule returns the fault of a value, or undefined.

export const idFault = (value: unknown) => uuidFault('id', value);
export const projectIdFault = (value: unknown) => uuidFault('projectId', value);

/** Checks the projects of a filter, as text. */
export function projectIdsFault(value: unknown): Fault | undefined {
  if (typeof value === 'string' && UUIDS.test(value)) return undefined;
  const text = `must be a UUID, or at most ${MAX_PROJECTS} separated by commas`;
  return faultOf('projectId', value, 'uuid', text, { max: MAX_PROJECTS });
}

/** Returns the different projects of a valid text, in lower case. */
export function parseProjectIds(text: string): readonly string[] {
  return [...new Set(text.toLowerCase().split(','))];
}

/** Returns those of a list, which may be empty. Throws DomainError VALIDATION_ERROR unless it is valid. */
export function requireProjectIds(ids: readonly string[]): readonly string[] {
  if (ids.length === 0) return ids;
  const text = ids.join();
  throwFaults([projectIdsFault(text)]);
  return parseProjectIds(text);
}

/** Returns the id of a log in lower case. Throws DomainError VALIDATION_ERROR unless it is a UUID. */
export function logIdOf(id: string): string {
  throwFaults([idFault(id)]);
  return id.toLowerCase();
}

function uuidFault(name: string, value: unknown): Fault | undefined {
  const isUuid = typeof value === 'string' && UUID.test(value);
  return isUuid ? undefined : faultOf(name, value, 'uuid', 'must be a UUID');
}

export function durationFault(value: unknown): Fault | undefined {
  const isNumber = typeof value === 'number';
  if (isNumber && value > 0 && Number.isFinite(value)) return undefined;
  const [rule, params] = isNumber ? ['range', { above: 0 }] : ['type', { type: 'number' }];
  return faultOf('duration', value, rule, 'must be a positive number', params);
}

/** Also rejects text that PostgreSQL cannot store unchanged. */
export function descriptionFault(value: unknown): Fault | undefined {
  const name = 'description';
  if (typeof value !== 'string') return faultOf(name, value, 'type', 'must be a string', { type: 'string' });
  const max = MAX_DESCRIPTION_LENGTH;
  if (isLongerThan(max, value))
    return faultOf(name, value, 'length', `must be at most ${max} characters`, { max });
  const text = textFault(value);
  return text === undefined ? undefined : faultOf(name, value, 'characters', text);
}

export function dateFault(value: unknown): Fault | undefined {
  const text = 'must be an existing day in the form YYYY-MM-DD';
  return isCalendarDate(value) ? undefined : faultOf('date', value, 'date', text);
}

/** Returns whether a value is an object: not null, an array or an instance of a class. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  // An object of another realm has another `Object.prototype`.
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

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

/** Returns the rest of the message for text that PostgreSQL cannot store unchanged, or undefined. */
export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain U+0000';
  return text.isWellFormed() ? undefined : 'must not contain lone surrogates';
}

/** Compares code points. It counts them only if the number of code units does not decide. */
function isLongerThan(maximum: number, text: string): boolean {
  if (text.length <= maximum) return false;
  return text.length > 2 * maximum || Array.from(text).length > maximum;
}
