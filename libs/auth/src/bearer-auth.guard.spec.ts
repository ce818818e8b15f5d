import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { BearerAuthGuard } from './bearer-auth.guard.js';
import { BearerStrategy } from './bearer.strategy.js';
import { callerOf } from './caller.js';

const ada = { id: 'ada', scopes: [] };
const auth = { verifier: { verify: async () => ada }, realm: 'test' };
const guard = new BearerAuthGuard(new BearerStrategy(auth), auth, new Reflector());

/** Bytes of a request. */
const SIZE = 128_000;

/** Asks the guard about a request that nobody keeps. */
async function ask(): Promise<void> {
  let ballast = {};
  for (let i = 0; i < SIZE / 32; i++) ballast = { ballast };
  const request = {
    headers: { authorization: 'Bearer x' },
    rawHeaders: ['Authorization', 'Bearer x'],
    ballast,
  };
  await guard.canActivate(new ExecutionContextHost([request, { request }], Object, ask));
  expect(callerOf(request)).toBe(ada);
}

it('leaves no request to the collection of old garbage', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  const bytesOfOld = async (requests: number) => {
    const used = () =>
      getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')!.space_used_size;
    const before = used();
    for (let i = 0; i < requests; i++) {
      await ask();
      // What survives two of these becomes old.
      collect({ type: 'minor' });
      collect({ type: 'minor' });
    }
    return used() - before;
  };
  await bytesOfOld(100);
  expect(await bytesOfOld(100)).toBeLessThan((100 * SIZE) / 2);
});
