import type { PageRequest } from '../domain/page-request.js';
import type { TimeLog } from '../domain/time-log.js';
import type { TimeLogItems } from '../domain/time-log-item.js';
import { logResponse, metaOf } from './time-log-bodies.js';

/** A JSON array that is written item by item, and what stands around it. */
export interface JsonList {
  readonly before: string;
  readonly items: Iterable<string>;
  readonly after: string;
}

/** The JSON of `logResponse`. */
export function logJson(log: TimeLog): string {
  return JSON.stringify(logResponse(log));
}

/** The JSON of `listResponse`. */
export function listJson({ items, total }: TimeLogItems, page: PageRequest): JsonList {
  return {
    before: '{"success":true,"data":[',
    items,
    after: `],"meta":${JSON.stringify(metaOf(total, page))}}`,
  };
}

/** The JSON of a small list. */
export function textOf({ before, items, after }: JsonList): string {
  let text = before;
  let separator = '';
  for (const item of items) {
    text += separator + item;
    separator = ',';
  }
  return text + after;
}
