import { randomUUID } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import {
  type CanActivate,
  ConflictException,
  type ExecutionContext,
  HttpException,
  Injectable,
  Logger,
  Module,
  type ModuleMetadata,
  type NestInterceptor,
  type PipeTransform,
  type Provider,
  UnauthorizedException,
  UnprocessableEntityException,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import type { Request } from 'express';
import { map } from 'rxjs';
import type { Caller } from '../../libs/auth/src/index.js';
import { ErrorEnvelopeFilter } from '../../libs/errors/src/hosts.js';
import { TimeLogModule } from '../../src/embedding/index.js';
import { TimeLogDto } from '../../src/time-log/index.js';
import { LOG, refusal } from '../support/requests.js';
import { hostDataSource, HostFilter, useHosts } from './embedded.js';

interface User {
  readonly sub?: string;
  readonly permissions: readonly string[];
}
const USERS: Readonly<Record<string, User>> = {
  ada: { sub: 'ada', permissions: ['time-logs:read', 'time-logs:write'] },
  reader: { sub: 'reader', permissions: ['time-logs:read'] },
};

/** A dependency of the guard of the host. */
@Injectable()
class Users {
  find(name: unknown): User | undefined {
    return USERS[String(name)];
  }
}

/** The host's own way in: another header, another user, another error. */
@Injectable()
class HostGuard implements CanActivate {
  constructor(private readonly users: Users) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const user = this.users.find(request.headers['x-user']);
    if (user === undefined) throw new UnauthorizedException('who are you?');
    request.user = user;
    return true;
  }
}

@Module({ providers: [Users], exports: [Users] })
class UsersModule {}

const caller = (context: ExecutionContext) => {
  const { sub: id, permissions: scopes } = context.switchToHttp().getRequest<Request>().user as User;
  return { id, scopes };
};

const anybody = () => ({ scopes: ['time-logs:read', 'time-logs:write'] });

@Module({})
class WholeAppModule {}
/** A module that binds what holds for the whole app. */
const wholeAppModule = (...providers: Provider[]) => ({ module: WholeAppModule, providers });

describe('a host that chooses', () => {
  const hosts = useHosts();
  const dataSource = () => hostDataSource(hosts.database.url);
  const serve = (imports: NonNullable<ModuleMetadata['imports']>, bodyParser = true) =>
    hosts.serve(imports, { bodyParser });
  const send = (user: string, log?: object, headers = {}, path = '/api/v1/time-logs') =>
    hosts.send<unknown>(log ? 'POST' : 'GET', path, log, { 'x-user': user, ...headers });

  it('refuses by what it has for the whole app, each in its own words, in our form', async () => {
    const refuseIf = (user: string, context: ExecutionContext, error: HttpException) => {
      if (context.switchToHttp().getRequest<Request>().headers['x-user'] === user) throw error;
      return true;
    };
    const guard: CanActivate = {
      canActivate: (context) => refuseIf('debtor', context, new HttpException('pay first', 402)),
    };
    const interceptor: NestInterceptor = {
      intercept: (context, next) => {
        refuseIf('late', context, new ConflictException('the month is closed'));
        return next.handle();
      },
    };
    const pipe: PipeTransform<unknown> = {
      transform: (value) => {
        if (value instanceof TimeLogDto && value.duration > 24)
          throw new UnprocessableEntityException(['duration is in hours', 'at most 24']);
        return value;
      },
    };
    const wholeApp = wholeAppModule(
      { provide: APP_GUARD, useValue: guard },
      { provide: APP_INTERCEPTOR, useValue: interceptor },
      { provide: APP_PIPE, useValue: pipe },
    );
    await serve([dataSource(), wholeApp, TimeLogModule.forRoot({ caller: anybody })]);
    expect(await send('debtor')).toEqual([402, refusal('PAYMENT_REQUIRED', 'pay first')]);
    expect(await send('late')).toEqual([409, refusal('CONFLICT', 'the month is closed')]);
    expect(await send('ada', { ...LOG, duration: 25 })).toEqual([
      422,
      refusal('UNPROCESSABLE_ENTITY', 'duration is in hours; at most 24'),
    ]);
    expect(await send('ada', LOG)).toMatchObject([201, { data: LOG }]);
  });

  it('wraps no answer of our routes: its interceptor sees that one was sent, and nothing of it', async () => {
    const seen: unknown[] = [];
    const wrap: NestInterceptor = {
      intercept: (_context, next) =>
        next.handle().pipe(
          map((value: unknown) => {
            seen.push(value);
            return { wrapped: value };
          }),
        ),
    };
    const wrapping = wholeAppModule({ provide: APP_INTERCEPTOR, useValue: wrap });
    await serve([dataSource(), wrapping, TimeLogModule.forRoot({ caller: anybody })]);
    expect(await send('ada', LOG)).toMatchObject([201, { success: true, data: LOG }]);
    expect(await send('ada')).toMatchObject([200, { success: true }]);
    expect(await send('ada', undefined, {}, '/api/v1/time-logs/events')).toMatchObject([200, {}]);
    expect(seen).toEqual([undefined, undefined, undefined]);
  });

  it('never repeats, where it has our filter for the whole app, what Nest and Express say before a route', async () => {
    const filtering = wholeAppModule({ provide: APP_FILTER, useClass: ErrorEnvelopeFilter });
    await serve([dataSource(), filtering, TimeLogModule.forRoot({ caller: anybody })]);
    const missing = [404, refusal('NOT_FOUND', 'no such path')];
    const malformed = [400, refusal('VALIDATION_ERROR', 'malformed request')];
    expect(await send('ada', undefined, {}, '/nowhere?secret')).toEqual(missing);
    expect(await send('ada', undefined, {}, '/api/v1/time-logs/%ff')).toEqual(malformed);
    expect(await send('ada', { ...LOG, description: 'x'.repeat(200_000) })).toEqual([
      413,
      refusal('PAYLOAD_TOO_LARGE', 'the request body is too large'),
    ]);
  });

  describe('its own guard, filter and caller', () => {
    const own = { guard: HostGuard, filter: HostFilter, imports: [UsersModule] };

    it('lets pass whom its guard knows, and answers by its filter', async () => {
      await serve([dataSource(), TimeLogModule.forRoot({ ...own, caller })]);
      expect(await send('ada', LOG)).toMatchObject([201, { data: LOG }]);
      expect(await send('reader')).toMatchObject([200, { success: true }]);
      expect(await send('nobody')).toEqual([401, { host: 'who are you?' }]);
      expect(await send('reader', LOG)).toEqual([403, { host: 'the token lacks the scope time-logs:write' }]);
      expect(await send('ada', { ...LOG, duration: 0 })).toEqual([
        400,
        { host: 'duration must be a positive number' },
      ]);
    });

    it('refuses keys, and asks for no scope, without a caller', async () => {
      await serve([dataSource(), TimeLogModule.forRoot({ ...own, filter: undefined })]);
      expect(await send('reader', LOG)).toMatchObject([201, { data: LOG }]);
      expect(await send('ada', LOG, { 'idempotency-key': 'once' })).toEqual([
        400,
        refusal('VALIDATION_ERROR', 'Idempotency-Key is only for callers with an id'),
      ]);
    });

    it('makes options later, from what it injects', async () => {
      const late = TimeLogModule.forRootAsync({
        ...own,
        inject: [Users],
        hooks: {
          before: () => {
            throw new ConflictException('the project is closed');
          },
        },
        useFactory: (users: Users) => ({
          caller: async () => {
            const user = users.find('ada')!;
            return { id: user.sub, scopes: user.permissions };
          },
          limits: { bodyLimit: 200 },
        }),
      });
      await serve([dataSource(), late], false);
      expect(await send('reader')).toMatchObject([200, { success: true }]);
      expect(await send('nobody')).toEqual([401, { host: 'who are you?' }]);
      expect(await send('reader', LOG)).toEqual([409, { host: 'the project is closed' }]);
      expect(await send('reader', { ...LOG, description: 'x'.repeat(200) })).toEqual([
        413,
        { host: 'the request body must be at most 200 bytes' },
      ]);
    });

    it('answers errors of its guard and its caller, and logs those that it has to correct', async () => {
      const callers: Readonly<Record<string, () => Caller | null | undefined>> = {
        bound: () => ({ ...anybody(), projects: Array.from({ length: 101 }, () => randomUUID()) }),
        nameless: () => undefined,
        unknown: () => null,
        broken: () => {
          throw new TypeError('no connection');
        },
      };
      const userOf = (context: ExecutionContext) =>
        String(context.switchToHttp().getRequest<Request>().headers['x-user']);
      const guard = { canActivate: (context: ExecutionContext) => userOf(context) in callers };
      const timeLogs = TimeLogModule.forRoot({ guard, caller: (context) => callers[userOf(context)]!() });
      await serve([dataSource(), timeLogs]);
      const error = jest.fn();
      const warn = jest.fn();
      Logger.overrideLogger({ log: () => undefined, warn, error });
      expect(await send('refused')).toEqual([403, refusal('FORBIDDEN', 'access is denied')]);
      const unauthorized = refusal('UNAUTHORIZED', 'valid credentials are required');
      expect(await send('nameless')).toEqual([401, unauthorized]);
      expect(await send('unknown')).toEqual([401, unauthorized]);
      expect(await send('bound')).toMatchObject([200, { data: [] }]);
      expect(await send('broken')).toEqual([500, refusal('INTERNAL_ERROR', 'internal error')]);
      Logger.overrideLogger(false);
      const bound = 'a caller is bound to no project: its property projects contains more than 100 projects';
      expect(warn.mock.calls).toEqual([[bound, 'Bounds']]);
      expect(error.mock.calls).toEqual([
        ['TypeError: no connection', expect.stringMatching(/\n +at /), 'ErrorEnvelopeFilter'],
      ]);
    });
  });
});
