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
const handler = () => undefined;
const guard = new BearerAuthGuard(new BearerStrategy(auth), auth, new Reflector());

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
    const request = { rawHeaders: ['Authorization', 'Bearer x'], user: undefined };
    await new BearerAuthGuard(new BearerStrategy(bound), bound, new Reflector()).canActivate(
      new ExecutionContextHost([request, { locals: {} }], Object, handler),
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
  const request = { rawHeaders: ['Authorization', 'Bearer x'] };
  const result = new BearerAuthGuard(new BearerStrategy(failing), failing, new Reflector()).canActivate(
    new ExecutionContextHost([request, {}], Object, handler),
  );
  expect(await result.catch((error: unknown) => error)).toBe(thrown);
});

it('uses its own strategy in a module with another default strategy of passport', async () => {
  const app = await Test.createTestingModule({
    imports: [PassportModule.register({ defaultStrategy: 'another' }), BearerAuthModule.forRoot(auth)],
    providers: [BearerAuthGuard],
  }).compile();
  const request = { rawHeaders: ['Authorization', 'Bearer x'] };
  const context = new ExecutionContextHost([request, {}], Object, handler);
  expect(await app.get(BearerAuthGuard).canActivate(context)).toBe(true);
  expect(callerOf(request)).toBe(ada);
});

it.each([
  [['Bearer a', 'Bearer a'], ['token refused: Authorization is repeated']],
  [['Bearer "secret"'], ['token refused: it has characters that no token has']],
  [['Basic secret'], ['token refused: Authorization is not Bearer and a token']],
  [['secret'], ['token refused: Authorization is not Bearer and a token']],
  [['Bearer '], ['token refused: Authorization is not Bearer and a token']],
  [[], []],
])('logs why it does not read the token of %j', async (authorization, expected) => {
  const lines: unknown[] = [];
  const ignore = () => undefined;
  Logger.overrideLogger({ debug: (line) => lines.push(line), log: ignore, warn: ignore, error: ignore });
  const request = { rawHeaders: authorization.flatMap((value) => ['Authorization', value]) };
  const context = new ExecutionContextHost([request, { setHeader: ignore }], Object, handler);
  await expect(guard.canActivate(context)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  expect(lines).toEqual(expected);
});
