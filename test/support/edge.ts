import { afterEach, expect } from '@jest/globals';
import { rawRequest } from './raw-http.js';
import { type Answer, outcome, refusal, send, sendBytes } from './requests.js';
import { type TestApp, useTestApp } from './test-app.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const JSON_TYPE = 'application/json; charset=utf-8';

/** Requests that the edge refuses: status and whole body. */
export const REFUSED = {
  malformed: [400, refusal('VALIDATION_ERROR', 'malformed request')],
  hosts: [400, refusal('VALIDATION_ERROR', 'exactly one Host header is required')],
  unauthorized: [401, refusal('UNAUTHORIZED', 'a valid bearer token is required')],
  unknown: [404, refusal('NOT_FOUND', 'no such path')],
  method: [405, refusal('METHOD_NOT_ALLOWED', 'method not allowed on this path; see the Allow header')],
  slow: [408, refusal('REQUEST_TIMEOUT', 'the request was not received in time')],
  expectation: [417, refusal('EXPECTATION_FAILED', 'the only supported expectation is 100-continue')],
  headers: [431, refusal('HEADERS_TOO_LARGE', 'the request line and headers are too large')],
  internal: [500, refusal('INTERNAL_ERROR', 'internal error')],
  unavailable: [503, refusal('SERVICE_UNAVAILABLE', 'the service is unavailable at the moment; retry later')],
} satisfies Record<string, [number, object]>;

/** The service for the tests of a file. Whatever a test has sent, the next request is served. */
export function edgeApp(): TestApp {
  const app = useTestApp();
  afterEach(async () => {
    const { status, text } = await send(app, '/health');
    expect([status, text]).toEqual([200, 'OK']);
  });
  return app;
}

/** The text of a request of HTTP/1.1 with a Host and the token of the app. */
export function authorized({ token }: TestApp, methodAndPath: string, ...headers: string[]): string {
  return rawRequest(`${methodAndPath} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`, ...headers);
}

/** Writes a text as it is; its answer. */
export async function exchange(app: TestApp, text: string): Promise<Answer> {
  const answer = await sendBytes(app, text);
  if (answer === undefined) throw new Error('the connection was closed without an answer');
  return answer;
}

/** Holds the headers that every answer carries, and those that none may. */
export function expectCommon(given: Headers, requestId: unknown = expect.stringMatching(UUID)): void {
  const headers = Object.fromEntries(given);
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
    date: expect.stringMatching(/ GMT$/),
  });
  for (const name of ['x-powered-by', 'server', 'set-cookie']) expect(headers).not.toHaveProperty(name);
  // Answers with one log have that of its version, and none has one of Express, which are weak.
  if (headers.etag !== undefined) expect(headers.etag).toMatch(/^"[\w-]{22}"$/);
}

/** Holds a refused request to its status, its whole body, and the headers of every error. */
export function expectRefusal(answer: Answer, expected: [number, object], requestId?: string): void {
  expect(outcome(answer)).toEqual(expected);
  expect(answer.headers.get('content-type')).toBe(JSON_TYPE);
  expectCommon(answer.headers, requestId);
}
