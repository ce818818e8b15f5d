import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { readJsonObject } from './json-body.js';
import { applyRules, RequestRulesGuard } from './request-rules.guard.js';
import { stateOf, withinDeadline } from './request-state.js';

const guard = new RequestRulesGuard({ bodyLimit: 10, deadline: 30 });
const unavailable = { code: 'SERVICE_UNAVAILABLE' };
const tooLarge = (bytes: number) => ({
  code: 'PAYLOAD_TOO_LARGE',
  message: `the request body must be at most ${bytes} bytes`,
});

/** Returns a request with a body of 12 bytes. */
function newRequest() {
  const request = Object.assign(Readable.from([Buffer.from('{"a":12345}\n')]), {
    headers: { 'content-type': 'application/json' },
    headersDistinct: { 'content-type': ['application/json'] },
    complete: true,
  });
  return request as unknown as IncomingMessage;
}

function pass(request: IncomingMessage): boolean {
  return guard.canActivate({ switchToHttp: () => ({ getRequest: () => request }) } as ExecutionContext);
}

describe('RequestRulesGuard', () => {
  it('lets a request pass and applies its limits', async () => {
    const request = newRequest();
    expect(pass(request)).toBe(true);
    await expect(readJsonObject(request)).rejects.toMatchObject(tooLarge(10));
    const never = new Promise(() => undefined);
    await expect(withinDeadline(request, never)).rejects.toMatchObject(unavailable);
  });

  it('does not change limits that the app has set', async () => {
    const [small, large] = [newRequest(), newRequest()];
    applyRules(small, { bodyLimit: 11, deadline: 1 });
    applyRules(large, { bodyLimit: 12, deadline: 0 });
    for (const request of [small, large]) pass(request);
    await expect(readJsonObject(small)).rejects.toMatchObject(tooLarge(11));
    expect(await readJsonObject(large)).toEqual({ a: 12345 });
    expect([small, large].map((request) => stateOf(request).remainingWaitMs)).toEqual([1, 0]);
  });
});

it('readJsonObject throws if no limit is set', async () => {
  await expect(readJsonObject(newRequest())).rejects.toThrow('applyRules must be called');
});
