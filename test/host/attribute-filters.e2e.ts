import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ClientProxy } from '@nestjs/microservices';
import { z } from 'zod';
import type { Caller } from '../../libs/auth/src/index.js';
import { type TimeLogHooks, TimeLogModule, type TimeLogModuleOptions } from '../../src/embedding/index.js';
import { TimeLogMessagesModule } from '../../src/messages/time-logs/index.js';
import { TimeLogService } from '../../src/time-log/index.js';
import { TotalsService } from '../../src/totals/index.js';
import { type TestClient, overTransport, tcpClient } from '../messages/test-clients.js';
import { LOG } from '../support/requests.js';
import { hostDataSource, tcpPortOf, useHosts } from './embedded.js';

const ATTRIBUTES = z.strictObject({
  userId: z.string(),
  billable: z.boolean().optional(),
  rate: z.number().optional(),
  level: z.int().optional(),
});
const FILTERS = { userId: 'string', billable: 'boolean', rate: 'number', level: 'integer' } as const;
const SCOPES = ['time-logs:read', 'time-logs:write', 'time-logs:correct'];
const BOSS: Caller = { id: 'boss', scopes: SCOPES };
const ADA: Caller = { ...BOSS, id: 'ada', attributes: { userId: 'ada' } };
const NOT_ALLOWED = { error: 'FORBIDDEN', message: 'the token does not allow this attribute' };

const hosts = useHosts();
let caller = BOSS;
const seen: unknown[] = [];
let replaced: Record<string, unknown> | undefined;
const hooks: TimeLogHooks = {
  before: ({ values }) => {
    seen.push(values?.attributes);
    if (values && replaced) return { ...values, attributes: replaced };
    return undefined;
  },
};
const options = { caller: () => caller, attributes: ATTRIBUTES, filters: FILTERS, hooks };
const moduleWith = (more: TimeLogModuleOptions = {}) => TimeLogModule.forRoot({ ...options, ...more });

beforeEach(() => {
  caller = BOSS;
});

interface Answer {
  readonly message?: string;
  readonly data: { readonly id: string; readonly attributes?: unknown }[] & { readonly id: string };
}
const send = (method: string, path: string, body?: unknown) =>
  hosts.send<Answer>(method, `/api/v1/time-logs${path}`, body);

describe('a host with filters by attributes', () => {
  let testClient: TestClient;
  let proxy: ClientProxy;
  let timeLogs: TimeLogService;
  const create = (attributes?: object) => send('POST', '', { ...LOG, attributes });

  beforeAll(async () => {
    const module = moduleWith();
    const modules = [hostDataSource(hosts.database.url), module, TimeLogMessagesModule.over(module)];
    const app = await hosts.serve(modules, { hasMessages: true });
    timeLogs = app.get(TimeLogService, { strict: false });
    proxy = tcpClient(tcpPortOf(app));
    testClient = overTransport(proxy, () => undefined);
    for (const attributes of [
      { userId: 'ada', billable: true, rate: 1.5, level: 2 },
      { userId: 'ada', billable: false },
      { userId: 'böb&', billable: true },
    ])
      await create(attributes);
  });
  afterAll(async () => {
    await proxy.close();
  });

  it.each([
    ['attributes.userId=ada', { 'attributes.userId': 'ada' }, 2],
    ['attributes.rate=15e-1&attributes.level=2.0', { 'attributes.rate': 1.5, 'attributes.level': '2' }, 1],
  ])('returns the logs that match: %s', async (text, query, total) => {
    const [status, list] = await send('GET', `?${text}`);
    expect([status, list.data.length]).toEqual([200, total]);
    expect(await send('GET', `/totals?${text}`)).toMatchObject([200, { meta: { count: total } }]);
    expect(await testClient.list({ query })).toMatchObject({ answer: { meta: { total } } });
    const attributes = Object.fromEntries(
      Object.entries(query).map(([name, value]) => [name.slice(11), value === '2' ? 2 : value]),
    );
    expect(await timeLogs.list({ attributes })).toMatchObject({ total });
    const sums = await hosts.app.get(TotalsService, { strict: false }).totals({ attributes });
    expect(sums).toMatchObject({ whole: { count: total } });
  });

  it.each<[attributes: unknown, message: unknown]>([
    [{ foo: 1 }, 'attributes may only have userId, billable, rate and level'],
    [{ userId: undefined }, 'attributes.userId must be a string'],
    [{ userId: 'a', billable: true, rate: 1, level: 1 }, 'attributes must be at most 3 in one filter'],
    [1, 'attributes must be a plain object'],
    [
      { rate: 2 ** 53 },
      expect.stringMatching(/^attributes.rate must be at most 9007199254740991 in magnitude/),
    ],
  ])('refuses %j of its own code', async (attributes, message) => {
    await expect(timeLogs.list({ attributes: attributes as never })).rejects.toMatchObject({ message });
  });

  it('adds the values of a bound caller before its schema and its hooks', async () => {
    caller = ADA;
    seen.length = 0;
    const [, { data: made }] = await create({ billable: true });
    expect(seen).toEqual([{ userId: 'ada', billable: true }]);
    expect(made).toMatchObject({ attributes: { userId: 'ada', billable: true } });
    expect(await create()).toMatchObject([201, { data: { attributes: { userId: 'ada' } } }]);
    expect(await create({ userId: 'bob' })).toMatchObject([403, NOT_ALLOWED]);
    expect(await create({ userId: 1 })).toMatchObject([400, {}]);
    expect(await testClient.record({ timeLog: LOG })).toMatchObject({
      answer: { data: { attributes: { userId: 'ada' } } },
    });
    expect(await send('PUT', `/${made.id}`, { ...LOG, attributes: { userId: 'bob' } })).toMatchObject([
      403,
      NOT_ALLOWED,
    ]);
    expect(await send('GET', '?attributes.userId=b')).toMatchObject([200, { data: [] }]);
    const bound = { access: { projects: 'all', attributes: { userId: 'ada' } } } as const;
    expect(await timeLogs.record(LOG, bound)).toMatchObject({ attributes: { userId: 'ada' } });
    caller = { ...BOSS, id: randomUUID(), attributes: { userId: 'bob' } };
    expect(await send('GET', `/${made.id}`)).toMatchObject([404, {}]);
  });

  it('obeys the bounds of a caller in what its hooks return, also under a key of an earlier bound', async () => {
    const access = { projects: 'all', attributes: { userId: 'ada' } } as const;
    const own = await timeLogs.record(LOG, { access });
    const key = { caller: 'ada', text: randomUUID() };
    replaced = { userId: 'bob' };
    try {
      const sent = { ...LOG, attributes: { userId: 'ada' } };
      expect(await timeLogs.recordOnce(sent, key)).toMatchObject({ log: { attributes: replaced } });
      expect(await timeLogs.recordOnce(sent, key)).toMatchObject({ log: { attributes: replaced } });
      const refused = { code: 'FORBIDDEN', message: NOT_ALLOWED.message };
      for (const attributes of [replaced, {}]) {
        replaced = attributes;
        for (const change of [
          timeLogs.recordOnce(LOG, key, { access }),
          timeLogs.record(LOG, { access }),
          timeLogs.recordAll([LOG], { access }),
          timeLogs.correct(own.id, LOG, { access }),
          timeLogs.patch(own.id, () => ({ ...LOG, duration: 2 }), { access }),
        ])
          await expect(change).rejects.toMatchObject(refused);
      }
    } finally {
      replaced = undefined;
    }
    expect(await timeLogs.get(own.id, { access })).toEqual(own);
    const unset = timeLogs.patch(own.id, () => LOG, { access });
    expect((await unset).attributes).toEqual(access.attributes);
  });

  it.each<[query: object, message: string]>([
    [{ 'attributes.userId': null }, 'attributes.userId must be a string'],
    [{ 'attributes.userId': '\ud800' }, 'attributes.userId must not contain lone surrogates'],
    [
      { 'attributes.level': 2 ** 53 },
      'attributes.level must be at most 9007199254740991 in magnitude, and exact as a double: use a string',
    ],
    [{ 'attributes.billable': 1 }, 'attributes.billable must be true or false'],
    [{ 'attributes.rate': '0x10' }, 'attributes.rate must be a number'],
    [{ 'attributes.level': 1.5 }, 'attributes.level must be a whole number'],
    [{ attributes: { userId: 'ada' } }, 'unknown field: attributes'],
    [JSON.parse('{"__proto__": {"attributes.userId": "ada"}}') as object, 'unknown field: __proto__'],
  ])('refuses the query %j of a message', async (query, message) => {
    for (const operation of ['list', 'totals'] as const)
      expect(await testClient[operation]({ query })).toMatchObject({
        error: { error: 'VALIDATION_ERROR', message },
      });
  });
});
