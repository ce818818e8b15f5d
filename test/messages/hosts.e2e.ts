import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
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
import { CopyingPipe, hostDataSource, tcpPortOf, useHosts } from '../host/embedded.js';
import { LOG, refusal } from '../support/requests.js';
import { overTransport, tcpClient, type TestClient } from './test-clients.js';
import { z } from 'zod';
import { expectedLog } from '../support/expected-logs.js';

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

/** Its own output is no input to it. */
const ATTRIBUTES = z
  .strictObject({ minutes: z.string().optional(), any: z.json().optional() })
  .transform(({ minutes, any }) => ({ minutes: Number(minutes ?? 0), any }))
  .optional();

describe('a host with a schema of attributes, over TCP', () => {
  const hosts = useHosts();
  let proxy: ClientProxy;
  let testClient: TestClient;

  beforeAll(async () => {
    const scopes = ['time-logs:read', 'time-logs:write', 'time-logs:correct'];
    const caller = () => ({ id: 'ada', scopes });
    const filters = { minutes: 'number' } as const;
    const timeLogs = TimeLogModule.forRoot({ caller, attributes: ATTRIBUTES, filters });
    const app = await hosts.serve(
      [hostDataSource(hosts.database.url), timeLogs, TimeLogMessagesModule.over(timeLogs)],
      { hasMessages: true, prepare: (it) => it.useGlobalPipes(new CopyingPipe()) },
    );
    proxy = tcpClient(tcpPortOf(app));
    testClient = overTransport(proxy, () => undefined);
  });
  afterAll(async () => {
    await proxy.close();
  });

  const record = (timeLog: object) => testClient.record({ timeLog: { ...LOG, ...timeLog } });

  it('takes and answers them, in a large page too', async () => {
    const projectId = randomUUID();
    const sent = { projectId, attributes: { minutes: '90' } };
    const log = expectedLog({ ...LOG, projectId, attributes: { minutes: 90 } });
    expect(await record(sent)).toEqual({ answer: { success: true, data: log } });
    // It needs the response channel of the message.
    expect(await testClient.list({ query: { projectId, limit: 1000 } })).toMatchObject({
      answer: { data: [{ attributes: { minutes: 90 } }] },
    });
  });

  it('filters by them, and groups totals by them', async () => {
    const projectId = randomUUID();
    for (const minutes of ['5', '5.0', '7']) await record({ projectId, attributes: { minutes } });
    expect(await testClient.list({ query: { projectId, 'attributes.minutes': 5 } })).toMatchObject({
      answer: { meta: { total: 2 } },
    });
    const { duration } = LOG;
    expect(await testClient.totals({ query: { projectId, by: 'attributes.minutes' } })).toMatchObject({
      answer: {
        data: [
          { attributes: { minutes: 5 }, count: 2, duration: 2 * duration },
          { attributes: { minutes: 7 }, count: 1, duration },
        ],
        meta: { count: 3, duration: 3 * duration },
      },
    });
  });
});
