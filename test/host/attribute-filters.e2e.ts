import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Caller } from '../../libs/auth/src/index.js';
import { type TimeLogHooks, TimeLogModule } from '../../src/embedding/index.js';
import { TimeLogService } from '../../src/time-log/index.js';
import { TotalsService } from '../../src/totals/index.js';
import { LOG } from '../support/requests.js';
import { hostDataSource, useHosts } from './embedded.js';

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
  let timeLogs: TimeLogService;
  const create = (attributes?: object) => send('POST', '', { ...LOG, attributes });

  beforeAll(async () => {
    const app = await hosts.serve([hostDataSource(hosts.database.url), TimeLogModule.forRoot(options)]);
    timeLogs = app.get(TimeLogService, { strict: false });
  });

  it('finds logs by them from its own code', async () => {
    for (const attributes of [
      { userId: 'ada', billable: true, rate: 1.5, level: 2 },
      { userId: 'ada', billable: false },
      { userId: 'böb&', billable: true },
    ])
      await create(attributes);
    for (const [attributes, total] of [
      [{ userId: 'ada' }, 2],
      [{ rate: 1.5, level: 2 }, 1],
    ] as const) {
      expect(await timeLogs.list({ attributes })).toMatchObject({ total });
      const sums = await hosts.app.get(TotalsService, { strict: false }).totals({ attributes });
      expect(sums).toMatchObject({ whole: { count: total } });
    }
  });

  it.each<[attributes: object, message: unknown]>([
    [{ foo: 1 }, 'attributes may only have userId, billable, rate and level'],
    [{ userId: 'a', billable: true, rate: 1, level: 1 }, 'attributes must be at most 3 in one filter'],
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
    expect(await send('PUT', `/${made.id}`, { ...LOG, attributes: { userId: 'bob' } })).toMatchObject([
      403,
      NOT_ALLOWED,
    ]);
    expect(await send('GET', '?attributes.userId=b')).toMatchObject([200, { data: [] }]);
    const bound = { caller: { attributes: { userId: 'ada' } } };
    expect(await timeLogs.record(LOG, bound)).toMatchObject({ attributes: { userId: 'ada' } });
    caller = { ...BOSS, id: randomUUID(), attributes: { userId: 'bob' } };
    expect(await send('GET', `/${made.id}`)).toMatchObject([404, {}]);
  });

  it('obeys the bounds of a caller in what its hooks return, also under a key of an earlier bound', async () => {
    const bound = { caller: { attributes: { userId: 'ada' } } };
    const own = await timeLogs.record(LOG, bound);
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
          timeLogs.recordOnce(LOG, key, bound),
          timeLogs.record(LOG, bound),
          timeLogs.recordAll([LOG], bound),
          timeLogs.correct(own.id, LOG, bound),
          timeLogs.patch(own.id, () => ({ ...LOG, duration: 2 }), bound),
        ])
          await expect(change).rejects.toMatchObject(refused);
      }
    } finally {
      replaced = undefined;
    }
    expect(await timeLogs.get(own.id, bound)).toEqual(own);
    const unset = timeLogs.patch(own.id, () => LOG, bound);
    expect((await unset).attributes).toEqual(bound.caller.attributes);
  });
});
