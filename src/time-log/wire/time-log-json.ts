import type { Page } from '../domain/page.js';
import { createdAtOf, type TimeLog } from '../domain/time-log.js';
import type { TimeLogEvent } from '../domain/time-log-event.js';
import type { TimeLogPage } from '../domain/time-log.repository.js';
import { cloudEventOf } from './cloud-event.js';
import { isoText } from './iso-text.js';
import { LazyPage } from './lazy-page.js';
import { itemOf, logResponse, metaOf } from './time-log-bodies.js';

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
export function listJson(found: TimeLogPage, page: Page): JsonList {
  return {
    before: '{"success":true,"data":[',
    items: LazyPage.itemsOf(found) ?? each(found.logs, (log) => JSON.stringify(itemOf(log))),
    after: `],"meta":${JSON.stringify(metaOf(found.total, page))}}`,
  };
}

/** The JSON of a page of events. */
export function eventsJson(events: readonly TimeLogEvent[], source: string): JsonList {
  return {
    before: '[',
    items: each(events, (event) => JSON.stringify(cloudEventOf(event, source))),
    after: ']',
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

/** The JSON of an item: of the id of its log, and the JSON members of the listed values. */
export function itemJson(id: string, listed: string): string {
  return `{"id":"${id}",${listed},"createdAt":"${isoText(createdAtOf(id))}"}`;
}

function* each<From>(all: readonly From[], make: (one: From) => string): Generator<string> {
  for (const one of all) yield make(one);
}
