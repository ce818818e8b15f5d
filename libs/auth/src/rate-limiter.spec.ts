import { beforeEach, describe, expect, it } from '@jest/globals';
import { RateLimiter } from './rate-limiter.js';

describe('RateLimiter', () => {
  let now: number;
  let limiter: RateLimiter;

  beforeEach(() => {
    now = 1_000;
    limiter = new RateLimiter({ requests: 3, seconds: 60 }, () => now);
  });
  const take = (key: string, times: number) => Array.from({ length: times }, () => limiter.take(key));

  it('allows a key its quota, and no more', () => {
    expect(take('a', 5)).toEqual([
      { isAllowed: true, remaining: 2, seconds: 60 },
      { isAllowed: true, remaining: 1, seconds: 60 },
      { isAllowed: true, remaining: 0, seconds: 60 },
      { isAllowed: false, remaining: 0, seconds: 60 },
      { isAllowed: false, remaining: 0, seconds: 60 },
    ]);
  });

  it('never returns more seconds than the window has', () => {
    const hourly = new RateLimiter({ requests: 1, seconds: 3_600 }, () => now);
    const seconds = Array.from({ length: 1_000 }, (_, i) => {
      now = 1_000_000 + i * 1.000_001;
      return hourly.take(`key ${i}`).seconds;
    });
    expect(new Set(seconds)).toEqual(new Set([3_600]));
  });

  it('renews the whole quota when the window ends, and not before', () => {
    take('a', 3);
    now += 59_999;
    expect(limiter.take('a')).toEqual({ isAllowed: false, remaining: 0, seconds: 1 });
    now += 1;
    expect(limiter.take('a')).toEqual({ isAllowed: true, remaining: 2, seconds: 60 });
  });

  it('begins the window of a key with its first request', () => {
    limiter.take('a');
    now += 30_000;
    limiter.take('b');
    now += 15_500;
    expect([limiter.take('a').seconds, limiter.take('b').seconds]).toEqual([15, 45]);
  });

  it('forgets idle keys within two windows', () => {
    for (let i = 0; i < 1_000; i++) limiter.take(`idle-${i}`);
    expect(limiter.size).toBe(1_000);
    for (let i = 0; i < 2; i++) {
      now += 60_000;
      take('busy', 2);
    }
    expect(limiter.size).toBe(2);
  });

  it('forgets no key before its window ends', () => {
    for (let step = 0; step < 200; step++) {
      take(`key-${step}`, 3);
      if (step >= 59) expect(limiter.take(`key-${step - 59}`).isAllowed).toBe(false);
      now += 1_000;
    }
  });

  it('remembers a bounded number of keys, the newest among them', () => {
    take('first', 3);
    for (let i = 0; i < 300_000; i++) limiter.take(`key-${i}`);
    expect(limiter.size).toBeLessThanOrEqual(100_000);
    expect(limiter.take('first').remaining).toBe(2);
    expect(limiter.take('key-299999').remaining).toBe(1);
    expect(limiter.take('key-260000').remaining).toBe(1);
  });
});
