import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  ConflictException,
  Controller,
  Get,
  Module,
  Param,
  Req,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { TypeOrmModule } from '@nestjs/typeorm';
import { lastValueFrom } from 'rxjs';
import {
  AccessGuard,
  BearerAuthModule,
  type Caller,
  callerOf,
  Scopes,
  TokenVerifier,
} from '../../libs/auth/src/hosts.js';
import { DomainError, DomainErrorFilter, ErrorEnvelopeFilter } from '../../libs/errors/src/hosts.js';
import { TimeLogModule } from '../../src/embedding/index.js';
import { timeLogMigrations } from '../../src/time-log/index.js';
import { tcpClient } from '../messages/test-clients.js';
import { LOG, refusal } from '../support/requests.js';
import { HostFilter, tcpPortOf, useHosts } from './embedded.js';

const SCOPES: Readonly<Record<string, readonly string[]>> = {
  reader: ['time-logs:read'],
  worker: ['time-logs:read', 'time-logs:write'],
  approver: ['approvals:read'],
};

class StaffTokens extends TokenVerifier {
  override async verify(token: string): Promise<Caller | undefined> {
    const scopes = SCOPES[token];
    return scopes && { id: token, scopes };
  }
}

/** Routes and message handlers of the host: with our guard and filter, and without. */
@Controller('approvals')
class ApprovalsController {
  @Get()
  refuse(): never {
    throw new ConflictException('a conflict of the host');
  }

  @Get('mine')
  @UseGuards(AccessGuard)
  @UseFilters(ErrorEnvelopeFilter)
  @Scopes(['approvals:read'])
  mine(@Req() request: object): object {
    return { of: callerOf(request)?.id };
  }

  @Get('filtered/:error')
  @UseFilters(DomainErrorFilter)
  filtered(@Param('error') error: string): never {
    if (error === 'ours') throw new DomainError('NOT_FOUND', 'there is no approval');
    throw new ConflictException('a conflict of the host');
  }

  @MessagePattern('mine')
  @UseGuards(AccessGuard)
  @UseFilters(ErrorEnvelopeFilter)
  @Scopes(['approvals:read'])
  whose(@Payload() data: object): object {
    return { of: callerOf(data)?.id };
  }

  @MessagePattern('conflict')
  @UseFilters(ErrorEnvelopeFilter)
  conflict(): never {
    throw new ConflictException('a conflict of the host');
  }

  @MessagePattern('guarded')
  @UseGuards(AccessGuard)
  guarded(): object {
    return {};
  }
}

@Module({
  imports: [TimeLogModule.forRoot({})],
  controllers: [ApprovalsController],
  providers: [{ provide: APP_FILTER, useClass: HostFilter }],
})
class ApprovalsModule {}

function modulesOf(url: string) {
  return [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url,
      autoLoadEntities: true,
      migrations: [...timeLogMigrations],
      migrationsRun: true,
      poolErrorHandler: () => undefined,
    }),
    BearerAuthModule.forRoot({ verifier: new StaffTokens(), realm: 'our-app' }),
    ApprovalsModule,
  ];
}

describe('a host with routes of its own, whose callers have tokens', () => {
  const hosts = useHosts();

  beforeAll(async () => {
    await hosts.serve(modulesOf(hosts.database.url), {
      path: 'work',
      hasMessages: true,
      prepare: (app) => app.setGlobalPrefix('internal'),
    });
  });

  const send = (path: string, token?: string, log?: object) =>
    hosts.send<unknown>(
      log ? 'POST' : 'GET',
      `/internal${path}`,
      log,
      token && { authorization: `Bearer ${token}` },
    );
  const LOGS = '/work/time-logs';
  const unauthorized = refusal('UNAUTHORIZED', 'a valid bearer token is required');
  const lacksScope = refusal('FORBIDDEN', 'the token lacks the scope approvals:read');

  it('answers in our form on our routes alone', async () => {
    expect(await send(LOGS, 'worker', LOG)).toMatchObject([201, { data: LOG }]);
    expect(await send(LOGS, 'reader')).toMatchObject([200, { meta: { total: 1 } }]);
    expect(await send(LOGS)).toEqual([401, unauthorized]);
    expect(await send(LOGS, 'reader', LOG)).toEqual([
      403,
      refusal('FORBIDDEN', 'the token lacks the scope time-logs:write'),
    ]);
    expect(await send('/approvals')).toEqual([409, { host: 'a conflict of the host' }]);
    expect(await send('/nowhere')).toEqual([404, { host: 'Cannot GET /internal/nowhere' }]);
  });

  it('guards routes of its own, and answers there our errors by our filter, and others by its own', async () => {
    expect(await send('/approvals/mine', 'approver')).toEqual([200, { of: 'approver' }]);
    expect(await send('/approvals/mine', 'worker')).toEqual([403, lacksScope]);
    const missing = refusal('NOT_FOUND', 'there is no approval');
    expect(await send('/approvals/filtered/ours')).toEqual([404, missing]);
    expect(await send('/approvals/filtered/other')).toEqual([409, { host: 'a conflict of the host' }]);
  });

  it('guards a message handler of its own, and answers what is thrown there', async () => {
    const client = tcpClient(tcpPortOf(hosts.app));
    const ask = (pattern: string, data: unknown) => lastValueFrom(client.send<object>(pattern, data));
    expect(await ask('mine', { accessToken: 'approver' })).toEqual({ of: 'approver' });
    for (const data of [{}, [], 'x', { accessToken: 'stranger' }])
      await expect(ask('mine', data)).rejects.toEqual(unauthorized);
    await expect(ask('mine', { accessToken: 'worker' })).rejects.toEqual(lacksScope);
    await expect(ask('conflict', {})).rejects.toEqual(refusal('CONFLICT', 'a conflict of the host'));
    await expect(ask('guarded', {})).rejects.toMatchObject({ message: 'Internal server error' });
    expect(await ask('guarded', { accessToken: 'worker' })).toEqual({});
    await client.close();
  });
});
