import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { readJsonObject } from './json-body.js';
import { applyRules, RequestRulesGuard, stateOf, withinDeadline } from './request-state.js';

const unavailable = { name: 'DomainError', code: 'SERVICE_UNAVAILABLE' };
const never = new Promise<never>(() => undefined);
/** Returns work that takes this time. */
const after = (milliseconds: number) =>
  new Promise<string>((resolve) => setTimeout(() => resolve('result'), milliseconds));

/** Expects that work of this duration ends within the deadline. */
const expectResult = async (request: object, milliseconds: number) => {
  const result = withinDeadline(request, after(milliseconds));
  await jest.advanceTimersByTimeAsync(milliseconds);
  expect(await result).toBe('result');
};
/** Expects that the deadline passes after this time. */
const expectRefused = async (request: object, milliseconds: number, work: Promise<unknown> = never) => {
  const refused = expect(withinDeadline(request, work)).rejects.toMatchObject(unavailable);
  await jest.advanceTimersByTimeAsync(milliseconds);
  await refused;
};

describe('the deadline of a request', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('passes on a result or an error that comes in time', async () => {
    const request = {};
    expect(await withinDeadline(request, Promise.resolve('result'))).toBe('result');
    await expect(withinDeadline(request, Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  });

  it('rejects when the time is over', async () => {
    const request = {};
    stateOf(request).remainingWaitMs = 30;
    await expectRefused(request, 30);
  });

  it('is shared by all waits of a request', async () => {
    const request = {};
    stateOf(request).remainingWaitMs = 400;
    await expectResult(request, 250);
    await expectRefused(request, 150, after(300));
    await expectRefused(request, 0);
  });

  it('does not include the time between two waits', async () => {
    const request = {};
    stateOf(request).remainingWaitMs = 200;
    await expectResult(request, 150);
    await jest.advanceTimersByTimeAsync(1_000);
    await expectResult(request, 49);
  });
});

const guard = new RequestRulesGuard({ bodyLimit: 10, deadline: 30 });
const tooLarge = (bytes: number) => ({
  code: 'PAYLOAD_TOO_LARGE',
  message: `the request body must be at most ${bytes} bytes`,
});

/** Returns a request with a body of 12 bytes. */
function newRequest() {
  const request = Object.assign(Readable.from([Buffer.from('{"a":12345}\n')]), {
    headers: { 'content-type': 'application/json' },
    rawHeaders: ['Content-Type', 'application/json'],
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
