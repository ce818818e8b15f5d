import type { ServerResponse } from 'node:http';
import type { Page } from '../domain/page.js';
import type { TimeLogPage } from '../domain/time-log.repository.js';
import type { StoredTimeLog, TimeLog } from '../domain/time-log.js';
import { isoText } from './iso-text.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** A log as the service answers it: every field, and when it was recorded. */
export type TimeLogBody = StoredTimeLog & {
  /** UTC with milliseconds, `2026-01-31T09:30:00.123Z`. */
  readonly createdAt: string;
};

/** An item of a list. The contract leaves `date` out of lists. */
type TimeLogItem = Omit<TimeLogBody, 'date'>;

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

// Each member is named: an answer has these and no others, whatever a host's adapter puts into a log.

function itemOf({ id, projectId, duration, description, createdAt }: TimeLog): TimeLogItem {
  return { id, projectId, duration, description, createdAt: isoText(createdAt) };
}

export function bodyOf({ id, projectId, duration, description, date, createdAt }: TimeLog): TimeLogBody {
  return { id, projectId, duration, description, date, createdAt: isoText(createdAt) };
}

/**
 * Ends the response with a text, which is sent together with the headers. Express would first copy it into a Buffer.
 */
export function send(
  response: ServerResponse,
  status: number,
  body: TimeLogListResponse | TimeLogResponse | readonly object[],
  type = JSON_TYPE,
): void {
  const text = JSON.stringify(body);
  response.statusCode = status;
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}
