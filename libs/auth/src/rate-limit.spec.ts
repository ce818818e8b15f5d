import type { Type } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { rateLimit } from './rate-limit.js';
import { Unlimited } from './access.guard.js';

class Limited {
  route(): string {
    return 'limited';
  }
  @Unlimited()
  free(): string {
    return 'free';
  }
}
@Unlimited()
class Free {
  route(): string {
    return 'free';
  }
}

describe('rateLimit', () => {
  let now: number;
  beforeEach(() => {
    now = 1_000;
  });

  /** Returns a function that makes a request, and returns the header RateLimit, or the error. */
  function limit(quota: { requests: number; seconds: number }) {
    const admit = rateLimit(quota, () => now);
    return (id: string | null = 'ada', controller: Type = Limited, route = 'route') => {
      const handler = (controller.prototype as Record<string, () => string>)[route];
      const headers = new Map<string, string>();
      const response = { setHeader: headers.set.bind(headers) };
      try {
        admit(
          { id: id ?? undefined, scopes: [] },
          new ExecutionContextHost([{}, response], controller, handler),
        );
        return headers.get('RateLimit');
      } catch (error) {
        return (error as Error).message;
      }
    };
  }
  const refusal = (retryAfter: number) =>
    `too many requests: a token may make 3 in 60 seconds; retry after ${retryAfter} seconds`;

  it('limits all routes except those that are unlimited, alone or with their controller', () => {
    const take = limit({ requests: 1, seconds: 60 });
    expect([take('ada', Limited, 'free'), take('ada', Free)]).toEqual([undefined, undefined]);
    expect(take()).toBe('"default";r=0;t=60');
    expect(take()).toMatch(/^too many requests/);
    expect([take('ada', Limited, 'free'), take('ada', Free)]).toEqual([undefined, undefined]);
  });

  it('allows a caller its quota in a window that begins with its first request, and no more', () => {
    const take = limit({ requests: 3, seconds: 60 });
    expect(take()).toBe('"default";r=2;t=60');
    now += 30_000;
    expect([take(), take(), take()]).toEqual(['"default";r=1;t=30', '"default";r=0;t=30', refusal(30)]);
    expect(take('bob')).toBe('"default";r=2;t=60');
    now += 30_000;
    expect(take()).toBe(refusal(1));
    now += 1;
    expect(take()).toBe('"default";r=2;t=60');
    expect(take('bob')).toBe('"default";r=1;t=30');
  });

  it('counts callers without an id together', () => {
    const take = limit({ requests: 3, seconds: 60 });
    expect([take(null), take(null)]).toEqual(['"default";r=2;t=60', '"default";r=1;t=60']);
  });

  it('remembers a limited number of callers, those with the last requests', () => {
    const take = limit({ requests: 3, seconds: 60 });
    take('first');
    for (let i = 0; i < 100_000; i++) take(`caller-${i}`);
    expect(take('caller-99999')).toBe('"default";r=1;t=60');
    expect(take('first')).toBe('"default";r=2;t=60');
  });
});
