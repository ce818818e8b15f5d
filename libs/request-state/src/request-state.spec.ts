import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { applyRules, rulesOf, stateOf, withinDeadline } from './index.js';

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

const rules = { bodyLimit: 10, batchLimit: 20, deadline: 30 };

describe('the rules of a module', () => {
  it('are those of the request, and set its deadline', async () => {
    const request = {};
    applyRules(request, rules);
    expect(rulesOf(request)).toBe(rules);
    await expect(withinDeadline(request, never)).rejects.toMatchObject(unavailable);
  });

  it('do not change a deadline that the app has set', () => {
    const request = {};
    stateOf(request).remainingWaitMs = 0;
    applyRules(request, rules);
    expect(stateOf(request).remainingWaitMs).toBe(0);
  });
});
