import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { isOverdue, stateOf, withinDeadline } from './request-state.js';

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

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('the deadline of a request', () => {
  it('passes on a result or an error that comes in time', async () => {
    const request = {};
    expect(await withinDeadline(request, Promise.resolve('result'))).toBe('result');
    await expect(withinDeadline(request, Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  });

  it('rejects when the time is over', async () => {
    const request = {};
    stateOf(request).remainingWaitMs = 30;
    expect(isOverdue(request)).toBe(false);
    await expectRefused(request, 30);
    expect(isOverdue(request)).toBe(true);
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

  it('belongs to a single request', async () => {
    const request = {};
    stateOf(request).remainingWaitMs = 0;
    await expectResult({}, 20);
    await expectRefused(request, 0);
  });
});
