import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { limitWaiting, withinDeadline } from './deadline.js';

const unavailable = { name: 'DomainError', code: 'SERVICE_UNAVAILABLE' };
const never = new Promise<never>(() => undefined);

describe('the deadline of a request', () => {
  it('lets an answer and an error through that come in time', async () => {
    const request = {};
    expect(await withinDeadline(request, Promise.resolve('answer'))).toBe('answer');
    await expect(withinDeadline(request, Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  });

  it('refuses when the time is up', async () => {
    const request = {};
    limitWaiting(request, 30);
    await expect(withinDeadline(request, never)).rejects.toMatchObject(unavailable);
  });

  it('is one for all waits of a request', async () => {
    const request = {};
    limitWaiting(request, 400);
    await withinDeadline(request, delay(250));
    const begun = performance.now();
    await expect(withinDeadline(request, delay(300))).rejects.toMatchObject(unavailable);
    expect(performance.now() - begun).toBeLessThan(250);
    await expect(withinDeadline(request, never)).rejects.toMatchObject(unavailable);
  });

  it('is the first that is set', async () => {
    const request = {};
    limitWaiting(request, 30);
    limitWaiting(request, 60_000);
    await expect(withinDeadline(request, never)).rejects.toMatchObject(unavailable);
  });

  it('does not count what happens between two waits', async () => {
    const request = {};
    limitWaiting(request, 200);
    await withinDeadline(request, delay(20));
    await delay(300);
    expect(await withinDeadline(request, delay(20, 'answer'))).toBe('answer');
  });

  it('belongs to one request alone', async () => {
    const request = {};
    limitWaiting(request, 0);
    await expect(withinDeadline(request, never)).rejects.toMatchObject(unavailable);
    expect(await withinDeadline({}, delay(20, 'answer'))).toBe('answer');
  });
});
