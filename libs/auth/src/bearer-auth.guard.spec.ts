import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { PassportModule } from '@nestjs/passport';
import { Test } from '@nestjs/testing';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { BearerAuthModule } from './bearer-auth.module.js';
import { BearerAuthGuard } from './bearer-auth.guard.js';
import { BearerStrategy } from './bearer.strategy.js';
import { callerOf } from './caller.js';
import type { Caller } from './caller.js';

const ada = { id: 'ada', scopes: [] };
const auth = { verifier: { verify: async () => ada }, realm: 'test' };
const guard = new BearerAuthGuard(new BearerStrategy(auth), auth, new Reflector());

/** Bytes of a request, and of one of the objects that it is made of. */
const SIZE = 128_000;
const OBJECT = 32;
const REQUESTS = 30;
const kept: object[] = [];

/** Asks the guard about a request that nobody keeps, or the caller. */
async function ask(keep: boolean): Promise<void> {
  let ballast = {};
  for (let i = 0; i < SIZE / OBJECT; i++) ballast = { ballast };
  const request = {
    headersDistinct: { authorization: ['Bearer x'] },
    ballast,
  };
  await guard.canActivate(new ExecutionContextHost([request, { request }], Object, ask));
  expect(callerOf(request)).toBe(ada);
  if (keep) kept.push(request);
}

it('leaves no request to the collection of old garbage', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;
  const used = () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')!.space_used_size;
  const bytesOfOld = async ({ keep = false } = {}) => {
    collect();
    const before = used();
    for (let i = 0; i < REQUESTS; i++) {
      await ask(keep);
      // What survives two of these becomes old.
      collect({ type: 'minor' });
      collect({ type: 'minor' });
    }
    return used() - before;
  };
  await bytesOfOld();
  expect(await bytesOfOld()).toBeLessThan((REQUESTS * SIZE) / 2);
  expect(await bytesOfOld({ keep: true })).toBeGreaterThan((REQUESTS * SIZE) / 2);
});

it('keeps the caller of a verifier with a sound set of projects, for everybody who asks', async () => {
  Logger.overrideLogger(false);
  const project = '3f2b8c1e-9d4a-4c57-8f16-0a7e5b2d9c43';
  const given = [project.toUpperCase()];
  const admitted: Caller[] = [];
  const bound = {
    realm: 'test',
    verifier: { verify: async () => ({ ...ada, projects: given }) },
    admit: (caller: Caller) => void admitted.push(caller),
  };
  const callersOf = async () => {
    const request = { headersDistinct: { authorization: ['Bearer x'] }, user: undefined };
    await new BearerAuthGuard(new BearerStrategy(bound), bound, new Reflector()).canActivate(
      new ExecutionContextHost([request, { locals: {} }], Object, ask),
    );
    return [callerOf(request), request.user, admitted.pop()];
  };
  expect(await callersOf()).toEqual(Array(3).fill({ ...ada, projects: [project] }));
  given.push('secret');
  expect(await callersOf()).toEqual(Array(3).fill({ ...ada, projects: [] }));
});

it('asks its own strategy in a module that has set up passport for another', async () => {
  const app = await Test.createTestingModule({
    imports: [PassportModule.register({ defaultStrategy: 'another' }), BearerAuthModule.forRoot(auth)],
    providers: [BearerAuthGuard],
  }).compile();
  const request = { headersDistinct: { authorization: ['Bearer x'] } };
  const context = new ExecutionContextHost([request, {}], Object, ask);
  expect(await app.get(BearerAuthGuard).canActivate(context)).toBe(true);
  expect(callerOf(request)).toBe(ada);
});
