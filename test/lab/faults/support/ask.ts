import { expect } from '@jest/globals';
import { type Answer, send } from '../../../support/requests.js';
import { TOKEN } from './service-under-writes.js';

export interface TimedAnswer extends Answer {
  /** Milliseconds. */
  readonly took: number;
}

export interface Question {
  readonly token?: string | undefined;
  /** Sent as JSON, by POST unless a method is given. */
  readonly body?: string;
  readonly method?: string;
}

/**
 * Sends one request, with the declared token unless another or `undefined` is given; checks the answer against the
 * contract.
 */
export async function ask(url: string, question: Question = {}): Promise<TimedAnswer> {
  const { token, body } = { token: TOKEN, ...question };
  const { port, pathname, search } = new URL(url);
  const headers = { authorization: token && `Bearer ${token}`, 'content-type': body && 'application/json' };
  const method = question.method ?? (body === undefined ? 'GET' : 'POST');
  const began = performance.now();
  const target = { port: Number(port), token: TOKEN };
  const answer = await send(target, pathname + search, { method, headers, body });
  return { ...answer, took: performance.now() - began };
}

/** Holds an answer to the promise for a database that is away: 503, when to come again, and the error body. */
export function expectUnavailable({ status, headers, body }: Answer): void {
  const refusal = { success: false, error: 'SERVICE_UNAVAILABLE', message: expect.any(String) };
  expect([status, body]).toEqual([503, refusal]);
  expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
}
