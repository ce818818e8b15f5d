import { describe, expect, it } from '@jest/globals';
import { type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { PassportModule } from '@nestjs/passport';
import { Test } from '@nestjs/testing';
import passport from 'passport';
import { of } from 'rxjs';
import { stateOf } from '../../request-state/src/index.js';
import { AccessGuard, type HostAccess, Scopes } from './access.guard.js';
import { BearerAuthModule } from './bearer-auth.module.js';
import type { BearerAuthOptions } from './bearer-auth.options.js';
import { BearerStrategy } from './bearer.strategy.js';
import { type Caller, callerOf } from './caller.js';

class Handlers {
  @Scopes(['logs:read'])
  list(): void {
    return;
  }
  /** Any valid token is enough. */
  health(): void {
    return;
  }
}
const reader = { id: 'ada', scopes: ['logs:read'] };
const PROJECT = '3f2b8c1e-9d4a-4c57-8f16-0a7e5b2d9c43';

/** Returns the context of a request or a message. `input` is the request or the data. */
function contextOf(type: 'http' | 'rpc', input: object, route: 'list' | 'health' = 'list'): ExecutionContext {
  const handler = Reflect.get<object, string>(Handlers.prototype, route) as () => void;
  const response = { setHeader: () => undefined };
  const context = new ExecutionContextHost([input, response], Handlers, handler);
  context.setType(type);
  return context;
}

describe('AccessGuard with bearer tokens', () => {
  type Verify = BearerAuthOptions['verifier']['verify'];
  const guardWith = (options: Omit<BearerAuthOptions, 'realm'>) =>
    new AccessGuard(new Reflector(), undefined, new BearerStrategy({ realm: 'test', ...options }));
  const guardOf = (verify: unknown) => guardWith({ verifier: { verify: verify as Verify } });
  const requestWith = (...authorization: string[]) => ({
    rawHeaders: authorization.flatMap((value) => ['Authorization', value]),
    user: undefined as unknown,
  });
  /** Asks for a route that needs no scope, so that nothing but the verifier refuses a token. */
  const askHealth = async (guard: AccessGuard, request = requestWith('Bearer x')) =>
    guard.canActivate(contextOf('http', request, 'health'));

  it('applies the rules of its module first', () => {
    const rules = { bodyLimit: 10, batchLimit: 20, deadline: 30 };
    const strategy = new BearerStrategy({ realm: 'test', verifier: { verify: async () => reader } });
    const guard = new AccessGuard(new Reflector(), undefined, strategy, rules);
    const request = requestWith();
    expect(() => guard.canActivate(contextOf('http', request))).toThrow();
    expect(stateOf(request)).toMatchObject({ rules, remainingWaitMs: 30 });
  });

  it('awaits the verifier, and stores the caller if there is one', async () => {
    const [request, refused] = [requestWith('Bearer x'), requestWith('Bearer x')];
    expect(
      await askHealth(
        guardOf(async () => reader),
        request,
      ),
    ).toBe(true);
    expect([callerOf(request), request.user]).toEqual([reader, reader]);
    const unauthorized = { code: 'UNAUTHORIZED' };
    await expect(
      askHealth(
        guardOf(async () => undefined),
        refused,
      ),
    ).rejects.toMatchObject(unauthorized);
    expect([callerOf(refused), refused.user]).toEqual([undefined, undefined]);
  });

  it.each([null, false, 0, ''])(
    'refuses a token for which a verifier returns or throws %p',
    async (value) => {
      const refused = { code: 'UNAUTHORIZED' };
      await expect(askHealth(guardOf(() => value))).rejects.toMatchObject(refused);
      await expect(askHealth(guardOf(() => Promise.reject(value as never as Error)))).rejects.toMatchObject(
        refused,
      );
    },
  );

  it('lets a known token pass at once, and awaits the verifier for another one', async () => {
    const verified: string[] = [];
    const guard = guardWith({
      known: (token) => (token === 'known' ? reader : undefined),
      verifier: {
        verify: async (token) => {
          verified.push(token);
          return reader;
        },
      },
    });
    const pass = (token: string) => guard.canActivate(contextOf('http', requestWith(`Bearer ${token}`)));
    expect(pass('known')).toBe(true);
    expect(pass('other')).not.toBe(true);
    expect(await pass('another')).toBe(true);
    expect(verified).toEqual(['other', 'another']);
  });

  it.each([Promise.resolve(undefined), true, { id: 'ada', scopes: 'logs:read' }])(
    'never lets a token pass by a value that is no caller: %p',
    async (value) => {
      const request = requestWith('Bearer x');
      const verifier = { verify: async () => reader };
      const guards = [guardWith({ known: () => value as never, verifier }), guardOf(() => [value])];
      for (const guard of guards)
        await expect(askHealth(guard, request)).rejects.toThrow('the scopes of a caller are not an array');
      expect(callerOf(request)).toBeUndefined();
    },
  );

  it('leaves the strategies of the host as they are, and those of other applications', async () => {
    const ofHost = { name: 'bearer', authenticate: () => undefined };
    passport.use(ofHost as never);
    const auth = { verifier: { verify: async () => reader }, realm: 'test' };
    const app = await Test.createTestingModule({
      imports: [PassportModule.register({ defaultStrategy: 'another' }), BearerAuthModule.forRoot(auth)],
      providers: [AccessGuard],
    }).compile();
    const another = guardOf(() => undefined);
    expect(await askHealth(app.get(AccessGuard))).toBe(true);
    await expect(askHealth(another)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(Reflect.get(passport, '_strategies')).toMatchObject({ bearer: ofHost });
  });
});

describe('AccessGuard with the access control of a host', () => {
  const canActivate = async (access: HostAccess, input: object = {}, type: 'http' | 'rpc' = 'rpc') =>
    new AccessGuard(new Reflector(), access).canActivate(contextOf(type, input));

  it.each(['http', 'rpc'] as const)('stores the caller of a request or message: %s', async (type) => {
    const input = { user: 'of the host' };
    const types: string[] = [];
    const caller = async (context: ExecutionContext) => {
      types.push(context.getType());
      return reader;
    };
    expect(await canActivate({ caller }, input, type)).toBe(true);
    expect([callerOf(input), input.user, types]).toEqual([reader, 'of the host', [type]]);
  });

  it('stores a caller with its other properties, and with valid bounds or no project', async () => {
    const storedFor = async (caller: object) => {
      const input = {};
      await canActivate({ caller: () => caller as Caller }, input);
      return callerOf(input);
    };
    class Staff {
      readonly name = 'Ada';
      readonly projects = [PROJECT.toUpperCase(), PROJECT];
      get id() {
        return this.name.toLowerCase();
      }
      get scopes() {
        return reader.scopes;
      }
    }
    expect(await storedFor(new Staff())).toEqual({ ...reader, name: 'Ada', projects: [PROJECT] });
    const attributes = { userId: '😀'.repeat(255), level: 1, isBillable: false };
    expect(await storedFor({ ...reader, attributes })).toEqual({ ...reader, attributes });
    expect(await storedFor(reader)).toBe(reader);
    const nothing = { ...reader, projects: [] };
    for (const projects of [null, '*', ['*'], PROJECT])
      expect(await storedFor({ ...reader, projects })).toEqual(nothing);
    // JSON.parse has rounded the last one, such as from a claim of the caller's token.
    const level = JSON.parse('653247040368672769') as number;
    for (const invalid of [null, {}, ['ada'], { userId: 'x'.repeat(256) }, { 'a b': 1 }, { level }])
      expect(await storedFor({ ...reader, projects: [PROJECT], attributes: invalid })).toEqual(nothing);
  });

  it('refuses a caller without the scope, a text as scopes, and a request without a caller', async () => {
    await expect(canActivate({ caller: () => ({ scopes: ['logs:write'] }) })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'the token lacks the scope logs:read',
    });
    await expect(canActivate({ caller: () => ({ scopes: 'no-logs:read' }) as never })).rejects.toThrow();
    await expect(canActivate({ caller: () => undefined })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it.each([
    ['a value', () => false],
    ['a promise', async () => false],
    ['an observable', () => of(false)],
  ])('does not resolve the caller if the guard refuses by %s', async (_kind, refuse) => {
    const caller = () => {
      throw new Error('called');
    };
    const access = { guard: { canActivate: refuse }, caller };
    expect(await canActivate(access, {}, 'http')).toBe(false);
    await expect(canActivate(access)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'access is denied',
    });
  });
});
