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
import { type Caller, callerOf } from './caller.js';

const ada = { id: 'ada', scopes: [] };
const auth = { verifier: { verify: async () => ada }, realm: 'test' };
const guard = new BearerAuthGuard(new BearerStrategy(auth), auth, new Reflector());

const REQUEST_BYTES = 128_000;
/** The size of each object in the ballast of a request. */
const OBJECT_BYTES = 32;
const REQUESTS = 30;
const kept: object[] = [];

/** Passes a request to the guard. Keeps a reference to it if `keep` is true. */
async function guardRequest(keep: boolean): Promise<void> {
  let ballast = {};
  for (let i = 0; i < REQUEST_BYTES / OBJECT_BYTES; i++) ballast = { ballast };
  const request = {
    headersDistinct: { authorization: ['Bearer x'] },
    ballast,
  };
  await guard.canActivate(new ExecutionContextHost([request, { request }], Object, guardRequest));
  expect(callerOf(request)).toBe(ada);
  if (keep) kept.push(request);
}

it('lets minor garbage collections free every request', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;
  const used = () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')!.space_used_size;
  const oldSpaceGrowth = async ({ keep = false } = {}) => {
    collect();
    const before = used();
    for (let i = 0; i < REQUESTS; i++) {
      await guardRequest(keep);
      // An object that survives two of these becomes old.
      collect({ type: 'minor' });
      collect({ type: 'minor' });
    }
    return used() - before;
  };
  await oldSpaceGrowth();
  expect(await oldSpaceGrowth()).toBeLessThan((REQUESTS * REQUEST_BYTES) / 2);
  expect(await oldSpaceGrowth({ keep: true })).toBeGreaterThan((REQUESTS * REQUEST_BYTES) / 2);
});

it("returns a verifier's caller with valid projects to every reader", async () => {
  const project = '3f2b8c1e-9d4a-4c57-8f16-0a7e5b2d9c43';
  const projects = [project.toUpperCase()];
  const admitted: Caller[] = [];
  const bound = {
    realm: 'test',
    verifier: { verify: async () => ({ ...ada, projects }) },
    admit: (caller: Caller) => void admitted.push(caller),
  };
  const callersOf = async () => {
    const request = { headersDistinct: { authorization: ['Bearer x'] }, user: undefined };
    await new BearerAuthGuard(new BearerStrategy(bound), bound, new Reflector()).canActivate(
      new ExecutionContextHost([request, { locals: {} }], Object, guardRequest),
    );
    return [callerOf(request), request.user, admitted.pop()];
  };
  expect(await callersOf()).toEqual(Array(3).fill({ ...ada, projects: [project] }));
  projects.push('secret');
  await expect(callersOf()).rejects.toThrow(
    'the property projects of a caller contains a value that is not a UUID',
  );
});

it('throws what a verifier throws, also an Error of another realm', async () => {
  const thrown = runInNewContext('new TypeError("no connection")') as Error;
  const failing = { realm: 'test', verifier: { verify: () => Promise.reject(thrown) } };
  const request = { headersDistinct: { authorization: ['Bearer x'] } };
  const result = new BearerAuthGuard(new BearerStrategy(failing), failing, new Reflector()).canActivate(
    new ExecutionContextHost([request, {}], Object, guardRequest),
  );
  expect(await result.catch((error: unknown) => error)).toBe(thrown);
});

it('uses its own strategy in a module with another default strategy of passport', async () => {
  const app = await Test.createTestingModule({
    imports: [PassportModule.register({ defaultStrategy: 'another' }), BearerAuthModule.forRoot(auth)],
    providers: [BearerAuthGuard],
  }).compile();
  const request = { headersDistinct: { authorization: ['Bearer x'] } };
  const context = new ExecutionContextHost([request, {}], Object, guardRequest);
  expect(await app.get(BearerAuthGuard).canActivate(context)).toBe(true);
  expect(callerOf(request)).toBe(ada);
});

it.each([
  [['Bearer a', 'Bearer a'], ['token refused: Authorization is repeated']],
  [['Bearer "secret"'], ['token refused: it has characters that no token has']],
  [['Basic secret'], ['token refused: Authorization is not Bearer and a token']],
  [['secret'], ['token refused: Authorization is not Bearer and a token']],
  [['Bearer '], ['token refused: Authorization is not Bearer and a token']],
  [undefined, []],
])('logs why it does not read the token of %j', async (authorization, expected) => {
  const lines: unknown[] = [];
  const ignore = () => undefined;
  Logger.overrideLogger({ debug: (line) => lines.push(line), log: ignore, warn: ignore, error: ignore });
  const request = { headersDistinct: { authorization } };
  const context = new ExecutionContextHost([request, { setHeader: ignore }], Object, guardRequest);
  await expect(guard.canActivate(context)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  expect(lines).toEqual(expected);
});
