import { type Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Question } from './ask.js';

/** Asks for time logs on connections that an agent keeps; the status, or what there is in its place. */
export function statusOf(
  agent: Agent,
  { port, token }: { readonly port: number; readonly token: string },
  query: string,
  { method, body }: Question = {},
): Promise<string> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const address = { host: '127.0.0.1', port, path: `/api/v1/time-logs${query}` };
    request({ agent, method: method ?? (body === undefined ? 'GET' : 'POST'), headers, ...address })
      .on('error', (error) => resolve(error.message))
      .on('response', (answer) => {
        answer.resume().on('close', () => resolve(answer.complete ? String(answer.statusCode) : 'cut'));
      })
      .end(body);
  });
}

/**
 * Acts so often a second for a while. Each act gets its number and the moment at which it is due, from which its time
 * counts, so that no wait is left out.
 */
export async function atPace(
  perSecond: number,
  milliseconds: number,
  act: (number: number, due: number) => Promise<unknown>,
): Promise<void> {
  const begun = performance.now();
  const acts: Promise<unknown>[] = [];
  for (let number = 0; number < (milliseconds / 1_000) * perSecond; number++) {
    const due = begun + (number * 1_000) / perSecond;
    const early = due - performance.now();
    if (early > 0) await delay(early);
    acts.push(act(number, due));
  }
  await Promise.all(acts);
}
