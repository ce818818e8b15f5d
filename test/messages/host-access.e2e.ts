import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type CallHandler,
  type CanActivate,
  ConflictException,
  type ExecutionContext,
  Injectable,
  UnauthorizedException,
} from '@nestjs/common';
import type { ClientProxy } from '@nestjs/microservices';
import { map, of } from 'rxjs';
import { TimeLogModule } from '../../src/embedding/index.js';
import { TimeLogMessagesModule } from '../../src/messages/time-logs/index.js';
import { hostDataSource, tcpPortOf, useHosts } from '../host/embedded.js';
import { LOG, refusal } from '../support/requests.js';
import { type TestClient, overTransport, tcpClient } from './test-clients.js';

/** Whom the host knows; what it takes for a token is the name. */
const CALLERS: Readonly<Record<string, { readonly id?: string; readonly scopes: readonly string[] }>> = {
  ada: { id: 'ada', scopes: ['time-logs:read', 'time-logs:write'] },
  reader: { id: 'reader', scopes: ['time-logs:read'] },
  'answered by the host': { scopes: ['time-logs:write'] },
  wrapped: { scopes: ['time-logs:write'] },
  nameless: { scopes: ['time-logs:read', 'time-logs:write'] },
};

const nameOf = (context: ExecutionContext) =>
  String(context.switchToRpc().getData<{ accessToken?: unknown }>().accessToken);

@Injectable()
class HostGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (nameOf(context) === 'unknown to the guard') throw new UnauthorizedException('who are you?');
    if (nameOf(context) === 'barred') throw new ConflictException('barred until Monday');
    return nameOf(context) !== 'blocked';
  }
}

describe('a host that knows its callers by itself', () => {
  const hosts = useHosts();
  let client: ClientProxy;
  let testClient: TestClient;

  beforeEach(async () => {
    const caller = (context: ExecutionContext) => CALLERS[nameOf(context)];
    const timeLogs = TimeLogModule.forRoot({ guard: HostGuard, caller });
    const interceptor = {
      intercept: (context: ExecutionContext, next: CallHandler) =>
        nameOf(context) === 'answered by the host'
          ? of('from a cache')
          : next
              .handle()
              .pipe(map((answer: object) => (nameOf(context) === 'wrapped' ? { answer } : answer))),
    };
    const app = await hosts.serve(
      [hostDataSource(hosts.database.url), timeLogs, TimeLogMessagesModule.over(timeLogs)],
      { hasMessages: true, prepare: (it) => it.useGlobalInterceptors(interceptor) },
    );
    client = tcpClient(tcpPortOf(app));
    testClient = overTransport(client, () => undefined);
  });
  afterEach(async () => {
    await client.close();
  });

  const record = (accessToken: string, idempotencyKey?: string) =>
    testClient.record({ accessToken, timeLog: LOG, ...(idempotencyKey !== undefined && { idempotencyKey }) });

  it('takes messages without a token of ours, and keys of callers who have an id', async () => {
    const { answer } = (await record('ada', 'once')) as { answer: object };
    expect(answer).toMatchObject({ success: true, data: LOG });
    expect(await record('ada', 'once')).toEqual({ answer: { ...answer, replayed: true } });
    expect(await record('nameless')).toMatchObject({ answer: { success: true } });
    expect(await record('nameless', 'once')).toEqual({
      error: refusal('VALIDATION_ERROR', 'Idempotency-Key is only for callers with an id'),
    });
  });

  it.each([
    ['barred', 'CONFLICT', 'barred until Monday'],
    ['reader', 'FORBIDDEN', 'the token lacks the scope time-logs:write'],
    ['blocked', 'FORBIDDEN', 'access is denied'],
    ['unknown to the guard', 'UNAUTHORIZED', 'who are you?'],
    ['unknown to the caller', 'UNAUTHORIZED', 'valid credentials are required'],
  ])('refuses in our form whom it refuses: %s', async (name, code, message) => {
    expect(await record(name)).toEqual({ error: refusal(code, message) });
  });
});
