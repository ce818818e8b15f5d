import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type INestApplication, Logger } from '@nestjs/common';
import { z } from 'zod';
import type { Caller } from '../../libs/auth/src/index.js';
import {
  type AttributesSchema,
  type TimeLogHooks,
  TimeLogModule,
  type TimeLogModuleOptions,
} from '../../src/embedding/index.js';
import { TimeLogService } from '../../src/time-log/index.js';
import { TotalsService } from '../../src/totals/index.js';
import { eventually } from '../support/eventually.js';
import { expectedItem, expectedLog } from '../support/expected-logs.js';
import { LOG } from '../support/requests.js';
import { CopyingPipe, hostDataSource, useHosts } from './embedded.js';

/** The attributes of this host. It changes a text that was sent, and looks up a ticket elsewhere. */
const ATTRIBUTES = z
  .strictObject({
    ticket: z
      .string()
      .regex(/^[a-z]+-\d+$/, 'must be a ticket')
      .transform((ticket) => ticket.toUpperCase())
      .refine(async (ticket) => Promise.resolve(ticket !== 'NONE-1'), 'must be a ticket that is there'),
    billable: z.boolean().default(true),
    more: z.unknown().optional(),
  })
  .optional();
const SCOPES = ['time-logs:read', 'time-logs:write', 'time-logs:correct'];
const BOSS: Caller = { id: 'ada', scopes: SCOPES };

const hosts = useHosts();
let caller = BOSS;
beforeEach(() => {
  caller = BOSS;
});
const prepare = (app: INestApplication) => app.useGlobalPipes(new CopyingPipe());

async function serve(options: TimeLogModuleOptions): Promise<TimeLogService> {
  const timeLogs = TimeLogModule.forRoot({ caller: () => caller, ...options });
  const app = await hosts.serve([hostDataSource(hosts.database.url), timeLogs], { prepare });
  return app.get(TimeLogService, { strict: false });
}

interface Made {
  readonly data: { readonly id: string; readonly createdAt: string };
}
const send = <T = Made>(method: string, path: string, body?: unknown, headers = {}) =>
  hosts.send<T>(method, `/api/v1/time-logs${path}`, body, headers);
const create = (values: object, headers = {}) => send('POST', '', { ...LOG, ...values }, headers);
const invalid = (message: string) => [400, { success: false, error: 'VALIDATION_ERROR', message }];
const made = ([, { data }]: [number, Made]) => data;

describe('a host with a schema of attributes', () => {
  let service: TimeLogService;
  beforeAll(async () => {
    service = await serve({ attributes: ATTRIBUTES });
  });

  it('takes them with a log, and every answer has what the schema puts out', async () => {
    const more = { list: [1, null, { deep: 'é' }], text: '\u0001"' };
    const values = { projectId: randomUUID(), attributes: { ticket: 'ab-1', more } };
    const kept = { ...LOG, ...values, attributes: { ticket: 'AB-1', billable: true, more } };
    const answer = await create(values);
    expect(answer).toEqual([201, { success: true, data: expectedLog(kept) }]);
    const { id, createdAt } = made(answer);
    expect(await send('GET', `/${id}`)).toEqual([200, answer[1]]);
    expect(await send('GET', `?projectId=${values.projectId}`)).toMatchObject([
      200,
      { data: [expectedItem(kept, { id, createdAt })] },
    ]);
    const expectEvent = (type: string, data: object) =>
      eventually(async () => {
        const [, events] = await send<Made[]>('GET', '/events?limit=1000');
        expect(events.filter((event) => event.data.id === id)).toMatchObject([{ type, data }]);
      });
    await expectEvent('time-log.created', expectedLog(kept, { id, createdAt }));
    const correction = { ...kept, attributes: { ticket: 'cd-2', billable: false } };
    const corrected = expectedLog(
      { ...kept, attributes: { ticket: 'CD-2', billable: false } },
      { id, createdAt },
    );
    expect(await send('PUT', `/${id}`, correction)).toEqual([200, { success: true, data: corrected }]);
    await expectEvent('time-log.corrected', corrected);
    // Those of a log that is corrected without them stay, unchecked: this schema does not accept its own output.
    for (const [method, values] of [
      ['PUT', { ...kept, attributes: undefined }],
      ['PATCH', {}],
    ] as const)
      expect(await send(method, `/${id}`, values)).toEqual([200, { success: true, data: corrected }]);
  });

  it.each<[string, unknown, string]>([
    ['a member, asynchronously', { ticket: 'none-1' }, 'attributes.ticket must be a ticket that is there'],
    ['U+0000', { ticket: 'a-1', more: ['\0'] }, 'attributes must not contain U+0000'],
  ])('refuses what its schema, or PostgreSQL, refuses: %s', async (_what, attributes, message) => {
    expect(await create({ attributes })).toEqual(invalid(message));
    const { id } = made(await create({}));
    expect(await send('PUT', `/${id}`, { ...LOG, attributes })).toEqual(invalid(message));
  });

  it('reports all faults of a body at once: after the values, before unknown names; in a batch, for each log', async () => {
    const wrong = { foo: 1, attributes: { ticket: '', billable: 2 }, duration: 0 };
    const faults = [
      'duration must be a positive number',
      'attributes.ticket must be a ticket',
      'attributes.billable Invalid input: expected boolean, received number',
    ];
    expect(await create(wrong)).toEqual(invalid([...faults, 'unknown field: foo'].join('; ')));
    const timeLogs = [LOG, { ...LOG, ...wrong }];
    const inBatch = [...faults.map((fault) => `timeLogs[1].${fault}`), 'timeLogs[1]: unknown field: foo'];
    expect(await send('POST', '/batch', { timeLogs })).toEqual(invalid(inBatch.join('; ')));
  });

  it('checks those of its own code as those of callers', async () => {
    const log = await service.record({ ...LOG, attributes: { ticket: 'a-1' } });
    expect(log.attributes).toEqual({ ticket: 'A-1', billable: true });
    for (const [attributes, message] of [
      [{ ticket: '' }, 'duration must be a positive number; attributes.ticket must be a ticket'],
      [{ more: 'x'.repeat(65_536) }, /attributes must be at most 65536 bytes$/],
    ] as const) {
      const wrong = { ...LOG, duration: 0, attributes };
      await expect(service.record(wrong)).rejects.toThrow(message);
      await expect(service.correct(log.id, wrong)).rejects.toThrow(message);
    }
  });
});

describe('a schema of attributes', () => {
  it('makes one log of a key by what was sent, and is asked once for each request', async () => {
    let asked = 0;
    // Its own output is no input to it.
    const attributes = z.strictObject({ minutes: z.string() }).transform(({ minutes }) => {
      asked++;
      return { minutes: Number(minutes), asked };
    });
    const service = await serve({ attributes });
    const key = { 'idempotency-key': randomUUID() };
    const first = await create({ attributes: { minutes: '90' } }, key);
    expect(first).toMatchObject([201, { data: { attributes: { minutes: 90, asked: 1 } } }]);
    expect(await create({ attributes: { minutes: '90' } }, key)).toEqual(first);
    expect(await create({ attributes: { minutes: '90.0' } }, key)).toMatchObject([
      422,
      { error: 'IDEMPOTENCY_KEY_REUSED' },
    ]);
    expect(asked).toBe(3);
    const [sent, batchKey] = [
      { ...LOG, attributes: { minutes: '1' } },
      { caller: 'ada', text: randomUUID() },
    ];
    const batch = await service.recordAllOnce([sent], batchKey);
    expect(batch.logs[0]!.attributes).toEqual({ minutes: 1, asked: 4 });
    expect(await service.recordAllOnce([sent], batchKey)).toEqual({ ...batch, isReplay: true });
  });

  it('may return what cannot be stored: it is logged, and no caller gets an error of the server', async () => {
    const wrong = {
      'must be an object': 'text',
      'must be JSON': { a: NaN },
      'must not contain U+0000': { a: '\0' },
    };
    const outputs: unknown[] = Object.values(wrong);
    const validate = (value: unknown) => ({ value: value && outputs.shift() });
    await serve({ attributes: { '~standard': { version: 1, vendor: 'host', validate } } });
    const error = jest.fn<(line: unknown) => void>();
    Logger.overrideLogger({ log: () => undefined, warn: () => undefined, error });
    for (const fault of Object.keys(wrong)) {
      expect(await create({ attributes: {} })).toEqual(invalid('attributes is not valid'));
      expect(error.mock.lastCall?.[0]).toBe(`the output of the schema of attributes ${fault}`);
    }
    Logger.overrideLogger(false);
    expect(error).toHaveBeenCalledTimes(3);
  });

  it('holds up no request for longer than its deadline', async () => {
    const validate = () => new Promise<never>(() => undefined);
    const attributes: AttributesSchema = { '~standard': { version: 1, vendor: 'host', validate } };
    await serve({ attributes, limits: { deadline: 50 } });
    expect(await create({ attributes: {} })).toMatchObject([503, { error: 'SERVICE_UNAVAILABLE' }]);
  });
});

describe('a host with filters by attributes', () => {
  const schema = z.strictObject({
    userId: z.string(),
    billable: z.boolean().optional(),
    rate: z.number().optional(),
    level: z.int().optional(),
  });
  const filters = { userId: 'string', billable: 'boolean', rate: 'number', level: 'integer' } as const;
  const NOT_ALLOWED = { code: 'FORBIDDEN', message: 'the token does not allow this attribute' };
  const bound = { caller: { attributes: { userId: 'ada' } } };
  const seen: unknown[] = [];
  /** The attributes that the hook returns in place of those that were sent. */
  let replaced: Record<string, unknown> | null | undefined;
  const hooks: TimeLogHooks = {
    before: ({ values }) => {
      seen.push(values?.attributes);
      return values && replaced !== undefined ? { ...values, attributes: replaced ?? undefined } : undefined;
    },
  };
  let timeLogs: TimeLogService;
  beforeAll(async () => {
    timeLogs = await serve({ attributes: schema, filters, hooks });
  });
  beforeEach(() => {
    replaced = undefined;
  });

  it('finds logs by them from its own code, and refuses others', async () => {
    for (const attributes of [{ userId: 'eve', rate: 1.5, level: 2 }, { userId: 'eve' }])
      await create({ attributes });
    for (const [attributes, total] of [
      [{ userId: 'eve' }, 2],
      [{ rate: 1.5, level: 2 }, 1],
    ] as const) {
      expect(await timeLogs.list({ attributes })).toMatchObject({ total });
      const sums = await hosts.app.get(TotalsService, { strict: false }).totals({ attributes });
      expect(sums).toMatchObject({ whole: { count: total } });
    }
    for (const [attributes, message] of [
      [{ foo: 1 }, /^attributes may only have userId, billable, rate and level$/],
      [{ userId: 'a', billable: true, rate: 1, level: 1 }, /^attributes must be at most 3 in one filter$/],
      // As `any` of a request may have it; both look empty.
      [[] as never, /^attributes must be a plain object$/],
      [null as never, /^attributes must be a plain object$/],
      [{ rate: 2 ** 53 }, /^attributes.rate must be at most 9007199254740991 in magnitude/],
    ] as const)
      await expect(timeLogs.list({ attributes })).rejects.toThrow(message);
  });

  it('adds the values of a bound caller before its schema and its hooks', async () => {
    caller = { ...BOSS, attributes: bound.caller.attributes };
    seen.length = 0;
    const { id } = made(await create({ attributes: { billable: true } }));
    expect(seen).toEqual([{ userId: 'ada', billable: true }]);
    expect((await timeLogs.get(id)).attributes).toEqual({ userId: 'ada', billable: true });
    expect(await timeLogs.record(LOG, bound)).toMatchObject({ attributes: bound.caller.attributes });
  });

  it('obeys the bounds of a caller in what its hooks return, also under a key of an earlier bound', async () => {
    const own = await timeLogs.record(LOG, bound);
    const key = { caller: 'ada', text: randomUUID() };
    const sent = { ...LOG, attributes: bound.caller.attributes };
    replaced = { userId: 'bob' };
    for (let times = 0; times < 2; times++)
      expect(await timeLogs.recordOnce(sent, key)).toMatchObject({ log: { attributes: replaced } });
    for (const attributes of [replaced, {}]) {
      replaced = attributes;
      for (const change of [
        timeLogs.recordOnce(LOG, key, bound),
        timeLogs.record(LOG, bound),
        timeLogs.recordAll([LOG], bound),
        timeLogs.correct(own.id, LOG, bound),
        timeLogs.patch(own.id, () => ({ ...LOG, duration: 2 }), bound),
      ])
        await expect(change).rejects.toMatchObject(NOT_ALLOWED);
    }
    expect(await timeLogs.get(own.id, bound)).toEqual(own);
    // If it returns none, those that were sent stay.
    replaced = null;
    expect((await timeLogs.record(sent)).attributes).toEqual(sent.attributes);
  });
});
