import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { LOG, refusal } from '../support/requests.js';
import { type TestClient, type Outcome, overHttp } from './test-clients.js';
import { BOUND_TO, startTcpHost, type TcpHost } from './host.js';
import { describeMessages } from './messages.contract.js';

const accessToken = 'worker';
const UNAUTHORIZED = refusal('UNAUTHORIZED', 'a valid bearer token is required');

const error = (code: string, message: string): Outcome => ({ error: refusal(code, message) });

let tcp: TcpHost;
let testClient: TestClient;
beforeAll(async () => {
  tcp = await startTcpHost();
  ({ testClient } = tcp);
});
afterAll(async () => {
  await tcp.close();
});

describeMessages('TCP', async () => ({
  testClient,
  proxy: tcp.proxy,
  close: async () => undefined,
}));

const OPERATIONS = ['record', 'list', 'totals'] as const;
const DEEP = Array.from({ length: 1_000 }).reduce<unknown>((inner) => [inner], 1);

describe('messages over TCP', () => {
  it('need a token with the scope, before anything is validated', async () => {
    expect(await testClient.record({ accessToken: 'reader', timeLog: { x: 1 } })).toEqual(
      error('FORBIDDEN', 'the token lacks the scope time-logs:write'),
    );
    for (const operation of ['list', 'totals'] as const) {
      expect(await testClient[operation]({ accessToken: 'writer', query: { page: 0 } })).toEqual(
        error('FORBIDDEN', 'the token lacks the scope time-logs:read'),
      );
    }
  });

  it.each([
    ['broken', error('SERVICE_UNAVAILABLE', 'the tokens are out of reach')],
    ['secret', error('INTERNAL_ERROR', 'internal error')],
  ])('are answered where who decides tokens fails: %s', async (token, outcome) => {
    expect(await testClient.record({ accessToken: token, timeLog: LOG })).toEqual(outcome);
  });

  it.each(OPERATIONS)('need a good token in an object: %s', async (operation) => {
    for (const data of [[], [{ accessToken }], 'worker', 7, {}, { timeLog: LOG }]) {
      expect(await testClient[operation](data)).toEqual({ error: UNAUTHORIZED });
    }
    const tokens = ['', 'bad', 'ü', 'worker ', 'Bearer worker', 'x'.repeat(5_000), null, 7, [accessToken]];
    for (const token of tokens) {
      expect(await testClient[operation]({ accessToken: token, timeLog: LOG })).toEqual({
        error: UNAUTHORIZED,
      });
    }
  });

  it.each<[(typeof OPERATIONS)[number], object, string]>([
    ['record', {}, 'timeLog must be an object'],
    ['list', { query: null }, 'query must be an object'],
    ['record', { timeLog: { ...LOG, inner: 1 }, outer: 1 }, 'unknown field: inner; unknown field: outer'],
    ['list', { query: { inner: 1 }, timeLog: LOG }, 'unknown field: inner; unknown field: timeLog'],
    ['list', { query: { limit: null } }, 'limit must be a whole number from 1 to 1000'],
    [
      'record',
      { timeLog: LOG, idempotencyKey: null },
      'Idempotency-Key must be 1 to 255 printable ASCII characters',
    ],
    [
      'record',
      { timeLog: { ...LOG, description: DEEP } },
      'the message must not be nested deeper than 9 levels',
    ],
  ])('name all that is wrong: %s %j', async (operation, data, message) => {
    expect(await testClient[operation]({ accessToken, ...data })).toEqual(error('VALIDATION_ERROR', message));
  });
});

describe('a caller who is bound to projects, over TCP', () => {
  const [OWN, OTHER] = BOUND_TO as [string, string];
  const FOREIGN = 'b0000000-0000-4000-8000-00000000000f';
  const NOT_ALLOWED = error('FORBIDDEN', 'the token does not allow this project');
  const record = (token: string, projectId: string, idempotencyKey?: string) =>
    testClient.record({
      accessToken: token,
      timeLog: { ...LOG, projectId },
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });
  beforeAll(async () => {
    for (const projectId of [OWN, OTHER, FOREIGN]) await record('unbound', projectId);
  });

  it('records for its own projects alone', async () => {
    expect(await record('bound', OTHER.toUpperCase())).toMatchObject({
      answer: { data: { projectId: OTHER } },
    });
    expect(await record('bound', FOREIGN)).toEqual(NOT_ALLOWED);
    expect(await record('bound', 'x')).toEqual(error('VALIDATION_ERROR', 'projectId must be a UUID'));
    expect(await record('bound-to-none', OWN)).toEqual(NOT_ALLOWED);
  });

  it('learns nothing by a key that has recorded for a project of its own', async () => {
    const key = randomUUID();
    const { answer } = (await record('bound', OWN, key)) as { answer: object };
    expect(await record('bound', OWN, key)).toEqual({ answer: { ...answer, replayed: true } });
    expect(await record('bound', FOREIGN, key)).toEqual(NOT_ALLOWED);
    expect(await record('bound', OTHER, key)).toMatchObject({ error: { error: 'IDEMPOTENCY_KEY_REUSED' } });
  });

  it.each(['list', 'totals'] as const)('gets its own projects alone: %s', async (operation) => {
    const read = (token: string, query: Record<string, string> = {}) =>
      testClient[operation]({ accessToken: token, query });
    const countOf = async (token: string, query?: Record<string, string>) => {
      const { answer } = (await read(token, query)) as {
        answer: { meta: { total: number; count?: number } };
      };
      return operation === 'list' ? answer.meta.total : answer.meta.count;
    };
    const count = await countOf('unbound', { projectId: `${OWN},${OTHER}` });
    expect(await countOf('unbound')).toBeGreaterThan(count!);
    expect(await countOf('bound')).toBe(count);
    expect(await countOf('bound', { projectId: `${OTHER.toUpperCase()},${OWN},${OTHER}` })).toBe(count);
    // Large enough to be queued.
    expect(await countOf('bound', { limit: '1000' })).toBe(count);
    for (const query of [{ projectId: `${OWN},${FOREIGN}` }, { projectId: FOREIGN, limit: '1000' }])
      expect(await read('bound', query)).toEqual(NOT_ALLOWED);
    expect(await read('bound', { projectId: FOREIGN, limit: '0' })).toMatchObject({
      error: { error: 'VALIDATION_ERROR' },
    });
    for (const nobody of ['bound-to-none', 'bound-to-101']) expect(await countOf(nobody)).toBe(0);
    expect(await read('bound-to-none', { projectId: OWN })).toEqual(NOT_ALLOWED);
  });
});

describe('a host with messages over TCP', () => {
  it('has the keys of HTTP', async () => {
    const asked = { accessToken: 'worker', idempotencyKey: 'across', timeLog: LOG };
    const { answer } = (await testClient.record(asked)) as { answer: object };
    expect(await overHttp(tcp.port).record(asked)).toEqual({ answer: { ...answer, replayed: true } });
  });

  it('answers at its end what is under way, and refuses what comes then', async () => {
    const own = await startTcpHost({ deadline: 60_000 });
    const { asked, answered } = own.tokens;
    const underWay = own.testClient.record({ accessToken: 'held', timeLog: LOG });
    await asked.opened;
    const ended = own.app.close();
    await eventually(async () =>
      expect(await own.testClient.list({ accessToken: 'bad' })).toMatchObject({
        error: { error: 'SERVICE_UNAVAILABLE' },
      }),
    );
    answered.open();
    expect(await underWay).toMatchObject({ answer: { success: true } });
    await ended;
    await own.close();
  });
});
