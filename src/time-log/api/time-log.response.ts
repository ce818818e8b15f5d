import type { ServerResponse } from 'node:http';
import type { Page } from '../domain/page.js';
import { isoText } from '../domain/iso-text.js';
import { itemOf, itemsOf, type TimeLogItem } from '../domain/time-log-item.js';
import type { TimeLogPage } from '../domain/time-log.repository.js';
import type { StoredTimeLog, TimeLog } from '../domain/time-log.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** A log as the service answers it: every field, and when it was recorded. */
export type TimeLogBody = StoredTimeLog & {
  /** UTC with milliseconds, `2026-01-31T09:30:00.123Z`. */
  readonly createdAt: string;
};

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

/** The answer to a list, as a host can give it too. */
export function listResponse({ logs, total }: TimeLogPage, { number, limit }: Page): TimeLogListResponse {
  return { success: true, data: logs.map(itemOf), meta: { total, page: number, limit } };
}

/** The answer with one log, as a host can give it too. */
export function logResponse(log: TimeLog): TimeLogResponse {
  return { success: true, data: bodyOf(log) };
}

/** The JSON of `logResponse`. */
export function logJson(log: TimeLog): string {
  return JSON.stringify(logResponse(log));
}

/** Each member is named: an answer has these and no others, whatever a host's adapter puts into a log. */
export function bodyOf({ id, projectId, duration, description, date, createdAt }: TimeLog): TimeLogBody {
  return { id, projectId, duration, description, date, createdAt: isoText(createdAt.getTime()) };
}

/** A JSON array that is written item by item, and what stands around it. */
export interface JsonList {
  readonly before: string;
  readonly items: Iterable<string>;
  readonly after: string;
}

/** The JSON of `listResponse`. */
export function listJson(found: TimeLogPage, { number, limit }: Page): JsonList {
  const meta = { total: found.total, page: number, limit };
  return {
    before: '{"success":true,"data":[',
    items: itemsOf(found),
    after: `],"meta":${JSON.stringify(meta)}}`,
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

/**
 * Ends the response with a text, which is sent together with the headers. Express would first copy it into a Buffer.
 */
export function send(response: ServerResponse, status: number, text: string, type = JSON_TYPE): void {
  response.statusCode = status;
  response.setHeader('Content-Type', type);
  const length = Buffer.byteLength(text);
  response.setHeader('Content-Length', length);
  // As many bytes as characters: all are ASCII. latin1 gives the same bytes, and Node needs no encoder for it.
  response.end(text, length === text.length ? 'latin1' : 'utf8');
}
