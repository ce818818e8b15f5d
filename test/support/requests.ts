import { Agent, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { expect } from '@jest/globals';
import { expectDocumented, type DocumentedRequest } from './documented.js';
import { type Answer, answersIn, parsed, sendRaw } from './raw-http.js';

export type { Answer } from './raw-http.js';

export const TIME_LOGS = '/api/v1/time-logs';
export const PROJECT = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';

/** The body of a create that is accepted. */
export const LOG = { projectId: PROJECT, duration: 1.5, description: 'Wrote tests', date: '2026-01-31' };

/** A service on a port of loopback, such as a TestApp. */
export interface Target {
  readonly port: number;
  /** Sent with every request whose headers do not say otherwise. */
  readonly token: string;
}

export interface Sending {
  readonly method?: string;
  /** `undefined` leaves a header out, `authorization` too, which is otherwise the target's own token. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Uint8Array | ReadableStream | undefined;
}

/** Keeps connections, of which none holds up the end of the process. */
const agent = new Agent({ keepAlive: true });

/** Sends one request, path and body as they are written; checks the answer against the contract. */
export async function send(target: Target, path: string, sending: Sending = {}): Promise<Answer> {
  return ofContract({ method: 'GET', path, ...sending }, await answerTo(target, path, sending));
}

/** Sends values as JSON to a service with attributes or of a host, which the committed document does not describe. */
export function sendUnchecked(
  target: Target,
  method: string,
  path: string,
  values?: unknown,
  headers: Sending['headers'] = {},
): Promise<Answer> {
  const body = values === undefined || typeof values === 'string' ? values : JSON.stringify(values);
  return answerTo(target, path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

async function answerTo(
  { port, token }: Target,
  path: string,
  { method = 'GET', headers, body }: Sending,
): Promise<Answer> {
  const all: Record<string, string | undefined> = { authorization: `Bearer ${token}`, ...headers };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { agent, host: '127.0.0.1', port, method, path, headers: given };
    const outgoing = request(options, resolve).on('error', reject);
    if (body instanceof ReadableStream) Readable.fromWeb(body).pipe(outgoing);
    else outgoing.end(body);
  });
  const text = await textOf(incoming);
  return { status: incoming.statusCode!, headers: headersOf(incoming), text, body: parsed(text) };
}

/** Sends bytes as they are on a connection of their own; undefined where the service closes it without an answer. */
export async function sendBytes(
  { port }: Pick<Target, 'port'>,
  bytes: string | Buffer,
): Promise<Answer | undefined> {
  const [method = '', path = ''] = bytes.toString('latin1').split(' ', 2);
  const received = await sendRaw(port, bytes, (soFar) => answersIn(soFar, method).length > 0);
  const [answer] = answersIn(received, method);
  if (answer === undefined && received !== '') throw new Error(`this is no whole answer:\n${received}`);
  return answer && ofContract({ method, path }, answer);
}

/** Posts a time log. A text or bytes are sent as they are, anything else as JSON. */
export function create(
  target: Target,
  body: unknown = LOG,
  headers: Sending['headers'] = {},
): Promise<Answer> {
  return sendLog(target, 'POST', TIME_LOGS, body, headers);
}

/** Puts other values into a time log, which are sent as `create` sends them. */
export function correct(
  target: Target,
  id: string,
  body: unknown = LOG,
  headers: Sending['headers'] = {},
): Promise<Answer> {
  return sendLog(target, 'PUT', `${TIME_LOGS}/${id}`, body, headers);
}

/** Posts a batch, which is sent as `create` sends a log. */
export function createAll(target: Target, body: unknown, headers: Sending['headers'] = {}): Promise<Answer> {
  return sendLog(target, 'POST', `${TIME_LOGS}/batch`, body, headers);
}

/** Patches a time log, by values which are sent as `create` sends them. */
export function patch(
  target: Target,
  id: string,
  body: unknown,
  headers: Sending['headers'] = {},
): Promise<Answer> {
  const type = { 'content-type': 'application/merge-patch+json' };
  return sendLog(target, 'PATCH', `${TIME_LOGS}/${id}`, body, { ...type, ...headers });
}

function sendLog(target: Target, method: string, path: string, body: unknown, headers: Sending['headers']) {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream;
  return send(target, path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: isRaw ? body : JSON.stringify(body),
  });
}

/** Gets a time log. */
export function get(target: Target, id: string): Promise<Answer> {
  return send(target, `${TIME_LOGS}/${id}`);
}

/** Deletes a time log. */
export function remove(target: Target, id: string, sending: Sending = {}): Promise<Answer> {
  return send(target, `${TIME_LOGS}/${id}`, { method: 'DELETE', ...sending });
}

/** Lists time logs; the query is sent as it is written, without the question mark. */
export function list(target: Target, query = '', sending: Sending = {}): Promise<Answer> {
  return send(target, query === '' ? TIME_LOGS : `${TIME_LOGS}?${query}`, sending);
}

/** The body of an error. */
export function refusal(error: string, message: string): object {
  return { success: false, error, message };
}

/** Status and whole body, to be compared at once. */
export function outcome({ status, body }: Pick<Answer, 'status' | 'body'>): [number, unknown] {
  return [status, body];
}

/** The message of an error. */
export function messageOf({ body }: Answer): string {
  return (body as { message: string }).message;
}

/** The created log, or the listed logs. */
export function dataOf({ body }: Answer): unknown {
  return (body as { data: unknown }).data;
}

/** The id of the log in an answer. */
export function idOf(answer: Answer): string {
  return (dataOf(answer) as { id: string }).id;
}

/** The number of logs that match the filter of a list. */
export async function totalOf(target: Target, query = ''): Promise<number> {
  const { body } = await list(target, query);
  return (body as { meta: { total: number } }).meta.total;
}

/** The targets of a Link header by relation, as they are written: queries alone. */
export function linksIn({ headers }: Answer): Record<string, string> {
  const links = (headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g);
  return Object.fromEntries([...links].map(([, target, relation]) => [relation!, target!]));
}

/** Holds an answer to what is true of every one, and to the OpenAPI document. */
function ofContract(asked: DocumentedRequest, answer: Answer): Answer {
  const { status, headers, text, body } = answer;
  expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([
    'no-store',
    'nosniff',
  ]);
  if (status >= 400 && asked.method !== 'HEAD') {
    const message = expect.stringMatching(/^[\x20-\x7e]+$/);
    expect(body).toEqual({ success: false, error: expect.any(String), message });
  }
  expectDocumented(asked, { status, headers: Object.fromEntries(headers), text });
  return answer;
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  return headers;
}
