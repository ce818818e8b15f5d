import { describe, expect, it } from '@jest/globals';
import { type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { of } from 'rxjs';
import { AccessGuard, type HostAccess } from './access.guard.js';
import { type Caller, callerOf, Scopes } from './caller.js';

class Handlers {
  @Scopes(['logs:read'])
  list(): void {
    return;
  }
}
const reader = { id: 'ada', scopes: ['logs:read'] };
const PROJECT = '3f2b8c1e-9d4a-4c57-8f16-0a7e5b2d9c43';

/** Returns the context of a request or a message. `input` is the request or the data. */
function contextOf(type: 'http' | 'rpc', input: object): ExecutionContext {
  const list = Reflect.get<object, string>(Handlers.prototype, 'list') as () => void;
  const context = new ExecutionContextHost([input, {}], Handlers, list);
  context.setType(type);
  return context;
}
const canActivate = async (access: HostAccess, input: object = {}, type: 'http' | 'rpc' = 'rpc') =>
  new AccessGuard(new Reflector(), access).canActivate(contextOf(type, input));

describe('AccessGuard with the access control of a host', () => {
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

  it('stores a caller with valid projects, and its other properties', async () => {
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
    for (const projects of [null, '*', ['*'], PROJECT]) {
      await expect(storedFor({ ...reader, projects })).rejects.toThrow('the property projects of a caller ');
    }
    for (const attributes of [null, {}, ['ada'], { userId: 'x'.repeat(256) }, { 'a b': 1 }])
      await expect(storedFor({ ...reader, attributes })).rejects.toThrow(
        'the property attributes of a caller ',
      );
    const attributes = { userId: '😀'.repeat(255), level: 1, isBillable: false };
    expect(await storedFor({ ...reader, attributes })).toEqual({ ...reader, attributes });
    expect(await storedFor(reader)).toBe(reader);
    // JSON.parse has rounded it, such as from a claim of the caller's token.
    const rounded = { userId: 'ada', level: JSON.parse('653247040368672769') as number };
    expect(await storedFor({ ...reader, projects: [PROJECT], attributes: rounded })).toEqual({
      ...reader,
      projects: [],
    });
  });

  it.each<[string, ...unknown[]]>([
    ['id', ...['', 'a\0b', 5, null, {}].map((id) => ({ ...reader, id }))],
    ['scopes', null, 'ada', { id: 'ada' }, { scopes: 'logs:read' }, { scopes: ['logs:read', 5] }],
  ])('throws an Error for a caller with an invalid %s', async (name, ...callers) => {
    for (const caller of callers) {
      await expect(canActivate({ caller: () => caller as Caller })).rejects.toThrow(
        RegExp(`^the property ${name} of a caller is not .*: return \\{ id: 'ada', scopes: `),
      );
    }
  });

  it('refuses a caller without the scope, and a request without a caller', async () => {
    await expect(canActivate({ caller: () => ({ scopes: ['logs:write'] }) })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'the token lacks the scope logs:read',
    });
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

  it('stores no caller if the host has only a guard', async () => {
    const input = {};
    expect(await canActivate({ guard: { canActivate: () => of(true) } }, input)).toBe(true);
    expect(callerOf(input)).toBeUndefined();
  });

  it('throws without any access control', () => {
    expect(() => new AccessGuard(new Reflector())).toThrow(
      'no access control is configured: import BearerAuthModule.forRoot({ verifier, realm }), set a guard or a caller of your own, or import the same module object that has them',
    );
  });
});
