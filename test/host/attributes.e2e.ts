import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type DynamicModule, type INestApplication, Logger } from '@nestjs/common';
import { z } from 'zod';
import { type AttributesSchema, type TimeLogHooks, TimeLogModule } from '../../src/embedding/index.js';
import { entityTagOf, TimeLogService } from '../../src/time-log/index.js';
import { eventually } from '../support/eventually.js';
import { expectedItem, expectedLog } from '../support/expected-logs.js';
import { CopyingPipe, hostDataSource, useHosts } from './embedded.js';

const PROJECT = '11111111-1111-1111-1111-111111111111';
const VALUES = { projectId: PROJECT, duration: 1.5, description: 'work', date: '2026-01-31' };
const SCOPES = ['time-logs:read', 'time-logs:write', 'time-logs:correct'];

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

const options = { caller: () => ({ id: 'ada', scopes: SCOPES }) };
const hosts = useHosts();
const prepare = (app: INestApplication) => app.useGlobalPipes(new CopyingPipe());

async function serve(timeLogs: DynamicModule): Promise<TimeLogService> {
  const app = await hosts.serve([hostDataSource(hosts.database.url), timeLogs], { prepare });
  return app.get(TimeLogService, { strict: false });
}

const send = <T = Made>(method: string, path: string, body?: unknown, headers = {}) =>
  hosts.send<T>(method, `/api/v1/time-logs${path}`, body, headers);
const create = (values: object, headers = {}) => send('POST', '', { ...VALUES, ...values }, headers);
const invalid = (message: string) => [400, { success: false, error: 'VALIDATION_ERROR', message }];
interface Made {
  readonly data: { readonly id: string; readonly createdAt: string };
}
const made = ([, { data }]: [number, Made]) => data;
/** Returns the events of a log, once the feed has it. */
async function eventsOf(id: string): Promise<object[]> {
  let found: object[] = [];
  await eventually(async () => {
    const [, events] = await send<Made[]>('GET', '/events?limit=1000');
    found = events.filter(({ data }) => data.id === id);
    expect(found).not.toEqual([]);
  });
  return found;
}

describe('a host with a schema of attributes', () => {
  let service: TimeLogService;
  beforeAll(async () => {
    service = await serve(TimeLogModule.forRoot({ ...options, attributes: ATTRIBUTES }));
  });

  it('takes them with a log, and every answer has what the schema puts out', async () => {
    const more = { list: [1, null, { deep: 'é' }], text: '\u0001"' };
    const values = { projectId: randomUUID(), attributes: { ticket: 'ab-1', more } };
    const kept = { ...VALUES, ...values, attributes: { ticket: 'AB-1', billable: true, more } };
    const answer = await create(values);
    expect(answer).toEqual([201, { success: true, data: expectedLog(kept) }]);
    const { id, createdAt } = made(answer);
    expect(await send('GET', `/${id}`)).toEqual([200, answer[1]]);
    expect(await send('GET', `?projectId=${values.projectId}`)).toMatchObject([
      200,
      { data: [expectedItem(kept, { id, createdAt })] },
    ]);
    expect(await eventsOf(id)).toMatchObject([
      { type: 'time-log.created', data: expectedLog(kept, { id, createdAt }) },
    ]);
    const corrected = { ...kept, attributes: { ticket: 'CD-2', billable: false } };
    const correction = { ...kept, attributes: { ticket: 'cd-2', billable: false } };
    expect(await send('PUT', `/${id}`, correction)).toEqual([
      200,
      { success: true, data: expectedLog(corrected, { id, createdAt }) },
    ]);
    expect(await eventsOf(id)).toMatchObject([
      { type: 'time-log.corrected', data: expectedLog(corrected, { id, createdAt }) },
    ]);
  });

  it('keeps those of a log that is corrected without them, unchecked', async () => {
    const log = made(await create({ attributes: { ticket: 'ab-1' } }));
    const attributes = { ticket: 'AB-1', billable: true };
    for (const [duration, isConditional] of [
      [3, false],
      [4, true],
    ] as const) {
      const values = { ...VALUES, duration };
      const headers = isConditional ? { 'if-match': entityTagOf(await service.get(log.id)) } : {};
      const kept = { success: true, data: expectedLog({ ...values, attributes }, log) };
      expect(await send('PUT', `/${log.id}`, values, headers)).toEqual([200, kept]);
      expect(await send('GET', `/${log.id}`)).toEqual([200, kept]);
      expect(await send('PATCH', `/${log.id}`, { duration })).toEqual([200, kept]);
    }
  });

  it('merges those of a patch, and checks the result', async () => {
    const log = made(await create({ attributes: { ticket: 'ab-1', more: { a: 1, b: 2 } } }));
    const patch = (attributes: unknown) => send('PATCH', `/${log.id}`, { attributes });
    const merged = { ticket: 'CD-2', billable: true, more: { b: 2, c: [null] } };
    expect(await patch({ ticket: 'cd-2', more: { a: null, c: [null] } })).toEqual([
      200,
      { success: true, data: expectedLog({ ...VALUES, attributes: merged }, log) },
    ]);
    // This schema does not accept its own output.
    expect(await patch({ billable: false })).toEqual(invalid('attributes.ticket must be a ticket'));
    expect(await patch(1)).toEqual(invalid('attributes must be an object'));
    expect((await service.get(log.id)).attributes).toEqual(merged);
    expect(made(await patch(null))).not.toHaveProperty('attributes');
    expect(await service.get(log.id)).not.toHaveProperty('attributes');
  });

  it.each<[string, unknown, string]>([
    ['a member', { ticket: 'x' }, 'attributes.ticket must be a ticket'],
    ['a member, asynchronously', { ticket: 'none-1' }, 'attributes.ticket must be a ticket that is there'],
    ['null', null, 'attributes must be an object'],
    ['U+0000', { ticket: 'a-1', more: ['\0'] }, 'attributes must not contain U+0000'],
  ])('refuses what its schema, or PostgreSQL, refuses: %s', async (_what, attributes, message) => {
    expect(await create({ attributes })).toEqual(invalid(message));
    const { id } = made(await create({}));
    expect(await send('PUT', `/${id}`, { ...VALUES, attributes })).toEqual(invalid(message));
  });

  it('reports all faults of a body at once: after the values, before unknown names', async () => {
    const wrong = { foo: 1, attributes: { ticket: '', billable: 2 }, duration: 0, date: '' };
    expect(await create(wrong)).toEqual(
      invalid(
        'duration must be a positive number; date must be an existing day in the form YYYY-MM-DD; ' +
          'attributes.ticket must be a ticket; attributes.billable Invalid input: expected boolean, received number; unknown field: foo',
      ),
    );
  });

  it('takes them with each log of a batch, and names the log of an invalid value', async () => {
    const timeLogs = ['ab-1', 'cd-2'].map((ticket) => ({ ...VALUES, attributes: { ticket } }));
    const kept = ['AB-1', 'CD-2'].map((ticket) => ({ ...VALUES, attributes: { ticket, billable: true } }));
    const data = kept.map((log) => expectedLog(log));
    expect(await send('POST', '/batch', { timeLogs })).toEqual([201, { success: true, data }]);
    const wrong = { foo: 1, ...VALUES, duration: 0, attributes: { ticket: '' } };
    expect(await send('POST', '/batch', { timeLogs: [VALUES, wrong] })).toEqual(
      invalid(
        'timeLogs[1].duration must be a positive number; timeLogs[1].attributes.ticket must be a ticket; timeLogs[1]: unknown field: foo',
      ),
    );
  });

  it('checks those of its own code as those of callers', async () => {
    const log = await service.record({ ...VALUES, attributes: { ticket: 'a-1' } });
    expect(log.attributes).toEqual({ ticket: 'A-1', billable: true });
    expect((await service.get(log.id)).attributes).toEqual(log.attributes);
    expect(JSON.parse(JSON.stringify(log))).toMatchObject({ attributes: log.attributes });
    const wrong = { ...VALUES, duration: 0, attributes: { ticket: '' } };
    const fault = {
      code: 'VALIDATION_ERROR',
      message: 'duration must be a positive number; attributes.ticket must be a ticket',
    };
    await expect(service.record(wrong)).rejects.toMatchObject(fault);
    await expect(service.correct(log.id, wrong)).rejects.toMatchObject(fault);
    const long = { ticket: 'a-1', more: 'x'.repeat(65_536) };
    await expect(service.record({ ...VALUES, attributes: long })).rejects.toMatchObject({
      message: 'attributes must be at most 65536 bytes',
    });
  });
});

describe('a schema of attributes', () => {
  it('makes one log of a key by what was sent, and asks the schema once for each request', async () => {
    let asked = 0;
    // Its own output is no input to it.
    const attributes = z.strictObject({ minutes: z.string() }).transform(({ minutes }) => {
      asked++;
      // As sent at first, and later with a default.
      return minutes === 'few'
        ? { minutes, ...(asked > 5 && { asked }) }
        : { minutes: Number(minutes), asked };
    });
    const service = await serve(TimeLogModule.forRoot({ ...options, attributes }));
    const key = { 'idempotency-key': randomUUID() };
    const first = await create({ attributes: { minutes: '90' } }, key);
    expect(first).toMatchObject([201, { data: { attributes: { minutes: 90 } } }]);
    expect(await create({ attributes: { minutes: '90' } }, key)).toEqual(first);
    expect(await create({ attributes: { minutes: '90.0' } }, key)).toMatchObject([
      422,
      { error: 'IDEMPOTENCY_KEY_REUSED' },
    ]);
    expect(asked).toBe(3);
    const named = { caller: 'ada', text: randomUUID() };
    const once = () => service.recordOnce({ ...VALUES, attributes: { minutes: '1' } }, named);
    const { log } = await once();
    expect(log.attributes).toEqual({ minutes: 1, asked: 4 });
    expect(await once()).toEqual({ log, isReplay: true });
    expect(asked).toBe(5);
    asked = 0;
    const batchKey = { ...named, text: randomUUID() };
    const few = { ...VALUES, attributes: { minutes: 'few' } };
    const [unchanged, batch] = [
      await service.recordOnce(few, { ...named, text: 'few' }),
      await service.recordAllOnce([few], batchKey),
    ];
    asked = 10;
    expect(await service.recordOnce(few, { ...named, text: 'few' })).toEqual({
      ...unchanged,
      isReplay: true,
    });
    expect(await service.recordAllOnce([few], batchKey)).toEqual({ ...batch, isReplay: true });
  });

  it('has had its say before the hooks of the host, which get what it puts out', async () => {
    const seen: unknown[] = [];
    const hooks: TimeLogHooks = { before: ({ values }) => void seen.push(values?.attributes) };
    await serve(TimeLogModule.forRoot({ ...options, attributes: ATTRIBUTES, hooks }));
    await create({ attributes: { ticket: '' } });
    const { id } = made(await create({ attributes: { ticket: 'a-1' } }));
    await send('PUT', `/${id}`, VALUES);
    expect(seen).toEqual([{ ticket: 'A-1', billable: true }, undefined]);
  });

  it('may decide what a log gets that is sent without attributes', async () => {
    await serve(
      TimeLogModule.forRoot({ ...options, attributes: z.object({ a: z.int() }).prefault({ a: 1 }) }),
    );
    expect(await create({})).toMatchObject([201, { data: { attributes: { a: 1 } } }]);
    await serve(TimeLogModule.forRoot({ ...options, attributes: z.object({ a: z.int() }) }));
    expect(await create({})).toEqual(
      invalid('attributes Invalid input: expected object, received undefined'),
    );
  });

  it('may return what cannot be stored: it is logged, and no caller gets an error of the server', async () => {
    const wrong = {
      'must be an object': 'text',
      'must be JSON': { a: NaN },
      'must not contain U+0000': { a: '\0' },
    };
    const outputs: unknown[] = Object.values(wrong);
    const attributes: AttributesSchema = {
      '~standard': {
        ...{ version: 1, vendor: 'host' },
        // The document asks about a log without attributes.
        validate: (value) => ({ value: value && outputs.shift() }),
      },
    };
    await serve(TimeLogModule.forRoot({ ...options, attributes }));
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
    const attributes: AttributesSchema = {
      '~standard': { version: 1, vendor: 'host', validate: () => new Promise(() => undefined) },
    };
    await serve(TimeLogModule.forRoot({ ...options, attributes, limits: { deadline: 50 } }));
    expect(await create({ attributes: {} })).toMatchObject([503, { error: 'SERVICE_UNAVAILABLE' }]);
  });
});

describe('a host without a schema of attributes', () => {
  it('knows no such field, in bodies and in values of its own', async () => {
    const service = await serve(TimeLogModule.forRoot(options));
    for (const attributes of [{}, null, { a: 1 }]) {
      expect(await create({ attributes })).toEqual(invalid('unknown field: attributes'));
    }
    expect(await create({ attributes: {}, foo: 1, duration: 0 })).toEqual(
      invalid('duration must be a positive number; unknown field: attributes; unknown field: foo'),
    );
    await expect(service.record({ ...VALUES, duration: 0, attributes: {} })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: 'duration must be a positive number; unknown field: attributes',
    });
  });

  it('answers nothing of what another app has stored there', async () => {
    const service = await serve(TimeLogModule.forRoot({ ...options, attributes: ATTRIBUTES }));
    const log = await service.record({ ...VALUES, projectId: randomUUID(), attributes: { ticket: 'a-1' } });
    await serve(TimeLogModule.forRoot(options));
    expect(made(await send('GET', `/${log.id}`))).not.toHaveProperty('attributes');
    const [, list] = await send('GET', `?projectId=${log.projectId}`);
    expect(JSON.stringify(list)).not.toContain('attributes');
    expect(JSON.stringify(await eventsOf(log.id))).not.toContain('attributes');
  });
});
