import { expectDocumented } from './documented.js';
import type { TestApp } from './test-app.js';

export const TIME_LOGS = '/api/v1/time-logs';
export const PROJECT = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';

/** The body of a create that is accepted. */
export const LOG = { projectId: PROJECT, duration: 1.5, description: 'Wrote tests', date: '2026-01-31' };

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The text read as JSON; undefined where it is none. */
  readonly body: unknown;
}

export interface Sending {
  readonly method?: string;
  /** `undefined` leaves a header out, `authorization` too, which is otherwise the app's own token. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Uint8Array | ReadableStream | undefined;
}

/** Sends one request with the token of the app, unless told otherwise; checks the answer against the OpenAPI document. */
export async function send(
  app: TestApp,
  path: string,
  { method = 'GET', headers, body }: Sending = {},
): Promise<Answer> {
  const all: Record<string, string | undefined> = { authorization: `Bearer ${app.token}`, ...headers };
  const given = Object.entries(all).filter((header): header is [string, string] => header[1] !== undefined);
  const response = await fetch(app.url + path, {
    method,
    headers: given,
    ...(body !== undefined && { body, duplex: 'half' }),
  });
  const text = await response.text();
  expectDocumented(
    { method, path, headers: all, body },
    { status: response.status, headers: Object.fromEntries(response.headers), text },
  );
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

/** Posts a time log. A text or bytes are sent as they are, anything else as JSON. */
export function create(app: TestApp, body: unknown = LOG, headers: Sending['headers'] = {}): Promise<Answer> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream;
  return send(app, TIME_LOGS, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: isRaw ? body : JSON.stringify(body),
  });
}

/** Lists time logs; the query is sent as it is written, without the question mark. */
export function list(app: TestApp, query = '', sending: Sending = {}): Promise<Answer> {
  return send(app, query === '' ? TIME_LOGS : `${TIME_LOGS}?${query}`, sending);
}

/** The body of an error. */
export function refusal(error: string, message: string): object {
  return { success: false, error, message };
}

/** Status and whole body, to be compared at once. */
export function outcome({ status, body }: Pick<Answer, 'status' | 'body'>): [number, unknown] {
  return [status, body];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
