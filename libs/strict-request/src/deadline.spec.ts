import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { isOverdue, withinDeadline } from './deadline.js';
import { stateOf } from './request-state.js';

const unavailable = { name: 'DomainError', code: 'SERVICE_UNAVAILABLE' };
const never = new Promise<never>(() => undefined);
/** An answer that comes after so many milliseconds. */
const after = (milliseconds: number) =>
  new Promise<string>((resolve) => setTimeout(() => resolve('answer'), milliseconds));

/** An answer comes after this time, and the request gets it. */
const expectAnswer = async (request: object, milliseconds: number) => {
  const answer = withinDeadline(request, after(milliseconds));
  await jest.advanceTimersByTimeAsync(milliseconds);
  expect(await answer).toBe('answer');
};
/** What the request waits for is refused after this time. */
const expectRefused = async (request: object, milliseconds: number, waiting: Promise<unknown> = never) => {
  const refused = expect(withinDeadline(request, waiting)).rejects.toMatchObject(unavailable);
  await jest.advanceTimersByTimeAsync(milliseconds);
  await refused;
};

// On a clock that only the test moves.
beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('the deadline of a request', () => {
  it('lets an answer and an error through that come in time', async () => {
    const request = {};
    expect(await withinDeadline(request, Promise.resolve('answer'))).toBe('answer');
    await expect(withinDeadline(request, Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  });

  it('refuses when the time is up', async () => {
    const request = {};
    stateOf(request).timeLeft = 30;
    expect(isOverdue(request)).toBe(false);
    await expectRefused(request, 30);
    expect(isOverdue(request)).toBe(true);
  });

  it('is one for all waits of a request', async () => {
    const request = {};
    stateOf(request).timeLeft = 400;
    await expectAnswer(request, 250);
    await expectRefused(request, 150, after(300));
    await expectRefused(request, 0);
  });

  it('does not count what happens between two waits', async () => {
    const request = {};
    stateOf(request).timeLeft = 200;
    await expectAnswer(request, 150);
    await jest.advanceTimersByTimeAsync(1_000);
    await expectAnswer(request, 49);
  });

  it('belongs to one request alone', async () => {
    const request = {};
    stateOf(request).timeLeft = 0;
    await expectAnswer({}, 20);
    await expectRefused(request, 0);
  });
});
