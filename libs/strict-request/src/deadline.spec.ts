import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { limitWaiting, withinDeadline } from './deadline.js';

const unavailable = { name: 'DomainError', code: 'SERVICE_UNAVAILABLE' };
const never = new Promise<never>(() => undefined);
/** An answer that comes after so many milliseconds. */
const after = (milliseconds: number) =>
  new Promise<string>((resolve) => setTimeout(() => resolve('answer'), milliseconds));

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
    limitWaiting(request, 30);
    const refused = expect(withinDeadline(request, never)).rejects.toMatchObject(unavailable);
    await jest.advanceTimersByTimeAsync(30);
    await refused;
  });

  it('is one for all waits of a request', async () => {
    const request = {};
    limitWaiting(request, 400);
    const first = withinDeadline(request, after(250));
    await jest.advanceTimersByTimeAsync(250);
    expect(await first).toBe('answer');
    const second = expect(withinDeadline(request, after(300))).rejects.toMatchObject(unavailable);
    await jest.advanceTimersByTimeAsync(150);
    await second;
    const third = expect(withinDeadline(request, never)).rejects.toMatchObject(unavailable);
    await jest.advanceTimersByTimeAsync(0);
    await third;
  });

  it('is the first that is set', async () => {
    const request = {};
    limitWaiting(request, 30);
    limitWaiting(request, 60_000);
    const refused = expect(withinDeadline(request, never)).rejects.toMatchObject(unavailable);
    await jest.advanceTimersByTimeAsync(30);
    await refused;
  });

  it('does not count what happens between two waits', async () => {
    const request = {};
    limitWaiting(request, 200);
    const first = withinDeadline(request, after(150));
    await jest.advanceTimersByTimeAsync(150 + 1_000);
    expect(await first).toBe('answer');
    const second = withinDeadline(request, after(49));
    await jest.advanceTimersByTimeAsync(49);
    expect(await second).toBe('answer');
  });

  it('belongs to one request alone', async () => {
    const request = {};
    limitWaiting(request, 0);
    const refused = expect(withinDeadline(request, never)).rejects.toMatchObject(unavailable);
    const other = withinDeadline({}, after(20));
    await jest.advanceTimersByTimeAsync(20);
    await refused;
    expect(await other).toBe('answer');
  });
});
