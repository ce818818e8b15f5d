import { expect } from '@jest/globals';
import { ANSWER_LIMIT } from './limits.js';
import { TOKEN } from './service-under-writes.js';

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
  /** Milliseconds. */
  readonly took: number;
}

export interface Question {
  readonly token?: string | undefined;
  /** Sent as JSON by POST. */
  readonly body?: string;
}

/** Sends one request, with the declared token unless another or `undefined` is given. */
export async function ask(url: string, question: Question = {}): Promise<Answer> {
  const { token, body } = { token: TOKEN, ...question };
  const began = performance.now();
  const response = await fetch(url, {
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { method: 'POST', body }),
  });
  const text = await response.text();
  const took = performance.now() - began;
  return { status: response.status, retryAfter: response.headers.get('retry-after'), text, took };
}

/** Holds an answer to the promise for a database that is away: 503, when to come again, the error body, in time. */
export function expectUnavailable({ status, retryAfter, text, took }: Answer): void {
  expect([status, retryAfter, JSON.parse(text)]).toEqual([
    503,
    expect.stringMatching(/^[1-9]\d*$/),
    { success: false, error: 'SERVICE_UNAVAILABLE', message: expect.any(String) },
  ]);
  expect(took).toBeLessThan(ANSWER_LIMIT);
}
