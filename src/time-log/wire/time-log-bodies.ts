import { isoText } from '../domain/iso-text.js';
import type { PageRequest } from '../domain/page-request.js';
import type { TimeLogPage } from '../domain/time-log.repository.js';
import { itemsOf, type TimeLogItem, type TimeLogItems } from '../domain/time-log-item.js';
import type { StoredTimeLog, TimeLog } from '../domain/time-log.js';

/** A log as the service answers it: every field, and when it was recorded. */
export type TimeLogBody = StoredTimeLog & Pick<TimeLogItem, 'createdAt'>;

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

/** Most logs have none, and so their answers have no such member. */
function attributesOf({ attributes }: TimeLog): Pick<TimeLog, 'attributes'> {
  return attributes === undefined ? {} : { attributes };
}

/** The answer to a list, as a host can give it too. */
export function listResponse({ logs, total }: TimeLogPage, page: PageRequest): TimeLogListResponse {
  return itemsResponse({ items: itemsOf(logs), total }, page);
}

/** The answer to a list of items. */
export function itemsResponse({ items, total }: TimeLogItems, page: PageRequest): TimeLogListResponse {
  const data = Array.from(items, (item) => JSON.parse(item) as TimeLogItem);
  return { success: true, data, meta: metaOf(total, page) };
}

/** What the answer to a list says beside its logs. */
export function metaOf(total: number, { number, limit }: PageRequest): TimeLogListResponse['meta'] {
  return { total, page: number, limit };
}

/** The answer with one log, as a host can give it too. */
export function logResponse(log: TimeLog): TimeLogResponse {
  return { success: true, data: bodyOf(log) };
}
