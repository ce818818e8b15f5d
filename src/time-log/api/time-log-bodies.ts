import type { PageRequest } from '../domain/page-request.js';
import type { TimeLogItem, TimeLogItems } from '../domain/time-log-item.js';
import { isoText, createdAtOf, type StoredTimeLog, type TimeLog, VALUE_NAMES } from '../domain/time-log.js';

/** A log in a response: every field and `createdAt`. */
export type TimeLogBody = StoredTimeLog & Pick<TimeLogItem, 'createdAt'>;

/** The body of a response with a page of logs. */
export interface TimeLogListResponse {
  readonly success: true;
  readonly data: readonly TimeLogItem[];
  readonly meta: { readonly total: number; readonly page: number; readonly limit: number };
}

/** The body of a response with one log. */
interface TimeLogResponse {
  readonly success: true;
  readonly data: TimeLogBody;
}

/** Returns the documented fields of a log. */
export function bodyOf(log: TimeLog): TimeLogBody {
  const body: Record<string, unknown> = { id: log.id };
  for (const name of VALUE_NAMES) if (log[name] !== undefined) body[name] = log[name];
  body.createdAt = isoText(createdAtOf(log.id));
  return body as unknown as TimeLogBody;
}

/** Returns the response body of a page of items. */
export function itemsResponse({ items, total }: TimeLogItems, page: PageRequest): TimeLogListResponse {
  const data = Array.from(items, (item) => JSON.parse(item) as TimeLogItem);
  return { success: true, data, meta: metaOf(total, page) };
}

/** Returns the `meta` of a list. */
export function metaOf(total: number, { number, limit }: PageRequest): TimeLogListResponse['meta'] {
  return { total, page: number, limit };
}

/** Returns the response body of one log. */
export function logResponse(log: TimeLog): TimeLogResponse {
  return { success: true, data: bodyOf(log) };
}

/** A JSON array that is written item by item, and the text around it. */
export interface JsonList {
  readonly before: string;
  readonly items: Iterable<string>;
  readonly after: string;
}

/** Returns the JSON of `logResponse`. */
export function logJson(log: TimeLog): string {
  return JSON.stringify(logResponse(log));
}

/** Returns the JSON of the response body of a batch. */
export function logsJson(logs: readonly TimeLog[]): string {
  return JSON.stringify({ success: true, data: logs.map(bodyOf) });
}

/** Returns the JSON of `itemsResponse`. */
export function listJson({ items, total }: TimeLogItems, page: PageRequest): JsonList {
  return {
    before: '{"success":true,"data":[',
    items,
    after: `],"meta":${JSON.stringify(metaOf(total, page))}}`,
  };
}

/** Returns the JSON of a small list as one text. */
export function jsonListText({ before, items, after }: JsonList): string {
  let text = before;
  let separator = '';
  for (const item of items) {
    text += separator + item;
    separator = ',';
  }
  return text + after;
}
