import { expect } from '@jest/globals';
import { type Answer, send } from '../../../support/requests.js';
import { TOKEN } from './service-under-writes.js';

interface Question {
  readonly token?: string | undefined;
  /** Sent as JSON, by POST unless a method is given. */
  readonly body?: string;
  readonly method?: string;
}

/**
 * Sends one request, with the declared token unless another or `undefined` is given; checks the answer against the
 * contract.
 */
export function ask(url: string, question: Question = {}): Promise<Answer> {
  const { token, body, method = body === undefined ? 'GET' : 'POST' } = { token: TOKEN, ...question };
  const { port, pathname, search } = new URL(url);
  const headers = { authorization: token && `Bearer ${token}`, 'content-type': body && 'application/json' };
  return send({ port: Number(port), token: TOKEN }, pathname + search, { method, headers, body });
}

/** Holds an answer to the promise for a database that is away: 503, when to come again, and the error body. */
export function expectUnavailable({ status, headers, body }: Answer): void {
  const refusal = { success: false, error: 'SERVICE_UNAVAILABLE', message: expect.any(String) };
  expect([status, body]).toEqual([503, refusal]);
  expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
}
