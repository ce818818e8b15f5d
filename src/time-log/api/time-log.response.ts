import type { ServerResponse } from 'node:http';
import type { Page } from '../domain/page.js';
import type { TimeLogPage } from '../domain/time-log.repository.js';
import type { TimeLog } from '../domain/time-log.js';

/** An item of a list: exactly these members; `date` is kept off the list by the contract. */
interface TimeLogItem {
  readonly id: string;
  readonly projectId: string;
  readonly duration: number;
  readonly description: string;
  /** UTC with milliseconds, `2026-01-31T09:30:00.123Z`. */
  readonly createdAt: string;
}

interface TimeLogListResponse {
  readonly success: true;
  readonly data: readonly TimeLogItem[];
  readonly meta: { readonly total: number; readonly page: number; readonly limit: number };
}

interface TimeLogCreatedResponse {
  readonly success: true;
  readonly data: TimeLogItem & { readonly date: string };
}

export function listResponse({ logs, total }: TimeLogPage, { number, limit }: Page): TimeLogListResponse {
  const data = logs.map(({ id, projectId, duration, description, createdAt }) => ({
    id,
    projectId,
    duration,
    description,
    createdAt: createdAt.toISOString(),
  }));
  return { success: true, data, meta: { total, page: number, limit } };
}

export function createdResponse(log: TimeLog): TimeLogCreatedResponse {
  const { id, projectId, duration, description, date, createdAt } = log;
  return {
    success: true,
    data: { id, projectId, duration, description, date, createdAt: createdAt.toISOString() },
  };
}

/** Ends the response with a body as text, which goes out together with the headers; Express would make a Buffer of it first. */
export function send(
  response: ServerResponse,
  status: number,
  body: TimeLogListResponse | TimeLogCreatedResponse,
): void {
  const text = JSON.stringify(body);
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}
