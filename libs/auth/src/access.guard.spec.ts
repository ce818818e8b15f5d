import { describe, expect, it } from '@jest/globals';
import { type ExecutionContext, Logger } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { of } from 'rxjs';
import { AccessGuard, type HostAccess } from './access.guard.js';
import { type Caller, callerOf } from './caller.js';
import { Scopes } from './scopes.decorator.js';

class Handlers {
  @Scopes(['logs:read'])
  list(): void {
    return;
  }
}
const reader = { id: 'ada', scopes: ['logs:read'] };
const PROJECT = '3f2b8c1e-9d4a-4c57-8f16-0a7e5b2d9c43';

/** The context of a request or a message; `given` is the request or the data. */
function contextOf(type: 'http' | 'rpc', given: object): ExecutionContext {
  const list = Reflect.get<object, string>(Handlers.prototype, 'list') as () => void;
  const context = new ExecutionContextHost([given, {}], Handlers, list);
  context.setType(type);
  return context;
}
const ask = async (access: HostAccess, given: object = {}, type: 'http' | 'rpc' = 'rpc') =>
  new AccessGuard(new Reflector(), access).canActivate(contextOf(type, given));

describe('AccessGuard, where a host decides', () => {
  it.each(['http', 'rpc'] as const)('keeps the caller of a request or message: %s', async (type) => {
    const given = { user: 'theirs' };
    const types: string[] = [];
    const caller = async (context: ExecutionContext) => {
      types.push(context.getType());
      return reader;
    };
    expect(await ask({ caller }, given, type)).toBe(true);
    expect([callerOf(given), given.user, types]).toEqual([reader, 'theirs', [type]]);
  });

  it('keeps a caller with a sound set of projects, and all else that it has', async () => {
    Logger.overrideLogger(false);
    const keptOf = async (caller: object) => {
      const given = {};
      await ask({ caller: () => caller as Caller }, given);
      return callerOf(given);
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
    expect(await keptOf(new Staff())).toEqual({ ...reader, name: 'Ada', projects: [PROJECT] });
    for (const projects of [null, '*', ['*'], PROJECT]) {
      expect(await keptOf({ ...reader, projects })).toEqual({ ...reader, projects: [] });
    }
    expect(await keptOf(reader)).toBe(reader);
  });

  it('refuses a caller without the scope, and nobody', async () => {
    await expect(ask({ caller: () => ({ scopes: ['logs:write'] }) })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'the token lacks the scope logs:read',
    });
    await expect(ask({ caller: () => undefined })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it.each([
    ['at once', () => false],
    ['later', async () => false],
    ['as a stream', () => of(false)],
  ])('does not ask for the caller of what its guard refuses %s', async (_how, canActivate) => {
    const caller = () => {
      throw new Error('asked');
    };
    const access = { guard: { canActivate }, caller };
    expect(await ask(access, {}, 'http')).toBe(false);
    await expect(ask(access)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('knows no caller where only a guard decides', async () => {
    const given = {};
    expect(await ask({ guard: { canActivate: () => of(true) } }, given)).toBe(true);
    expect(callerOf(given)).toBeUndefined();
  });

  it('needs somebody who decides', () => {
    expect(() => new AccessGuard(new Reflector())).toThrow(
      'nobody decides who may call: import BearerAuthModule.forRoot({ verifier, realm }), bind a guard or a caller of your own, or import the very object that has them',
    );
  });
});
