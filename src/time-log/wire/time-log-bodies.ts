import type { Page } from '../domain/page.js';
import type { TimeLogPage } from '../domain/time-log.repository.js';
import { type FieldTable, type StoredTimeLog, TIME_LOG_FIELDS, TimeLog } from '../domain/time-log.js';
import { isoText } from './iso-text.js';

type Fields = typeof TIME_LOG_FIELDS;
type ListedField = {
  [Name in keyof Fields]: Fields[Name] extends { readonly isListed: false } ? never : Name;
}[keyof Fields];

/** The values of a log that an item of a list tells, in its order. */
export const LISTED_FIELDS = Object.entries<FieldTable[string]>(TIME_LOG_FIELDS)
  .filter(([, { isListed }]) => isListed !== false)
  .map(([name]) => name as ListedField);

interface Created {
  /** UTC with milliseconds, `2026-01-31T09:30:00.123Z`. */
  readonly createdAt: string;
}

/** A log as the service answers it: every field, and when it was recorded. */
export type TimeLogBody = StoredTimeLog & Created;

/** A log as an item of a list. */
export type TimeLogItem = Pick<StoredTimeLog, 'id' | ListedField | 'attributes'> & Created;

/** The body of an answer with a page of logs. */
export interface TimeLogListResponse {
  readonly success: true;
  readonly data: readonly TimeLogItem[];
  readonly meta: { readonly total: number; readonly page: number; readonly limit: number };
}

/** The body of an answer with one log. */
export interface TimeLogResponse {
  readonly success: true;
  readonly data: TimeLogBody;
}

/** Each member is named: an answer has these and no others, whatever a host's adapter puts into a log. */
export function bodyOf(log: TimeLog): TimeLogBody {
  const { id, projectId, duration, description, date, createdAt } = log;
  return {
    id,
    projectId,
    duration,
    description,
    date,
    ...attributesOf(log),
    createdAt: isoText(createdAt.getTime()),
  };
}

/** The item of a log. It has these members and no others, whatever a host's adapter puts into a log. */
export function itemOf(log: TimeLog): TimeLogItem {
  const values = Object.fromEntries(LISTED_FIELDS.map((name) => [name, log[name]]));
  return {
    id: log.id,
    ...values,
    ...attributesOf(log),
    createdAt: isoText(log.createdAt.getTime()),
  } as TimeLogItem;
}

/** Most logs have none, and so their answers have no such member. */
function attributesOf({ attributes }: TimeLog): Pick<TimeLog, 'attributes'> {
  return attributes === undefined ? {} : { attributes };
}

/** The answer to a list, as a host can give it too. */
export function listResponse({ logs, total }: TimeLogPage, page: Page): TimeLogListResponse {
  return { success: true, data: logs.map(itemOf), meta: metaOf(total, page) };
}

/** What the answer to a list says beside its logs. */
export function metaOf(total: number, { number, limit }: Page): TimeLogListResponse['meta'] {
  return { total, page: number, limit };
}

/** The answer with one log, as a host can give it too. */
export function logResponse(log: TimeLog): TimeLogResponse {
  return { success: true, data: bodyOf(log) };
}

// What JSON.stringify writes of a host's log: all that it has, and `createdAt`, unless a query has left out the id.
// From here, since the domain knows no JSON.
Object.defineProperty(TimeLog.prototype, 'toJSON', {
  configurable: true,
  value(this: TimeLog): object {
    const stored: { readonly id?: string } = { ...(this as object) };
    return stored.id === undefined ? stored : { ...stored, createdAt: isoText(this.createdAt.getTime()) };
  },
});
