import type { Type } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { expect, it } from '@jest/globals';
import { rateLimit, Unlimited } from './rate-limit.js';

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

/** Returns the outcomes of two requests of a caller to a route, with a quota of one. */
function outcomesOf(controller: Type, route: string): string[] {
  const admit = rateLimit({ requests: 1, seconds: 60 });
  const handler = (controller.prototype as Record<string, () => string>)[route];
  const context = new ExecutionContextHost([{}], controller, handler);
  // A message needs no response on which headers are set.
  context.setType('rpc');
  return [1, 2].map(() => {
    try {
      admit({ id: 'ada', scopes: [] }, context);
      return 'admitted';
    } catch (error) {
      return (error as Error).message;
    }
  });
}

it('limits all routes except those that are unlimited, alone or with their controller', () => {
  const refused = 'too many requests: a token may make 1 in 60 seconds; retry after 60 seconds';
  expect(outcomesOf(Limited, 'route')).toEqual(['admitted', refused]);
  expect(outcomesOf(Limited, 'free')).toEqual(['admitted', 'admitted']);
  expect(outcomesOf(Free, 'route')).toEqual(['admitted', 'admitted']);
});
