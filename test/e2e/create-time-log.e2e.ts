import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { expectedLog } from '../support/expected-logs.js';
import { rawRequest } from '../support/raw-http.js';
import {
  type Answer,
  create,
  createAll,
  dataOf,
  LOG,
  outcome,
  refusal,
  sendBytes,
  TIME_LOGS,
  totalOf,
} from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const DURATION = 'duration must be a positive number';
const [MAX_BYTES, MAX_BATCH_BYTES] = [64 * 1024, 1024 * 1024];

const app = useTestApp();

/** The head of a create, with these headers as they are written. */
const post = (...headers: string[]) =>
  rawRequest(`POST ${TIME_LOGS} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${app.token}`, ...headers);

const isInvalid = (message: string) => [400, refusal('VALIDATION_ERROR', message)];
const isCreated = (values: object) => [201, { success: true, data: expectedLog({ ...LOG, ...values }) }];

describe('POST /api/v1/time-logs', () => {
  it('answers with the log that was made', async () => {
    const before = Date.now();
    const answer = await create(app);
    const { id, createdAt } = dataOf(answer) as { id: string; createdAt: string };
    expect(outcome(answer)).toEqual([201, { success: true, data: expectedLog(LOG, { id, createdAt }) }]);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(createdAt)).toBe(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.now());
  });

  it('lets the last of repeated members count', async () => {
    const rest = JSON.stringify({ ...LOG, duration: undefined }).slice(1, -1);
    const good = await create(app, `{"duration":-1,${rest},"duration":2}`);
    expect(outcome(good)).toEqual(isCreated({ duration: 2 }));
    const bad = await create(app, `{"duration":2,${rest},"duration":-1}`);
    expect(outcome(bad)).toEqual(isInvalid(DURATION));
  });

  const tooLarge = (bytes: number) => [
    413,
    refusal('PAYLOAD_TOO_LARGE', `the request body must be at most ${bytes} bytes`),
  ];

  it.each([
    ['in one piece', (text: string) => text],
    ['in chunks', (text: string) => new Blob([text]).stream()],
  ])('takes a body of up to 64 KiB, and of 1 MiB in a batch, %s', async (_how, shaped) => {
    for (const [send, values, bytes] of [
      [create, LOG, MAX_BYTES],
      [createAll, { timeLogs: [LOG] }, MAX_BATCH_BYTES],
    ] as const) {
      const valid = JSON.stringify(values);
      expect((await send(app, shaped(valid.padEnd(bytes)))).status).toBe(201);
      expect(outcome(await send(app, shaped(valid.padEnd(bytes + 1))))).toEqual(tooLarge(bytes));
    }
  });

  it('refuses an announced length without waiting for the body', async () => {
    const head = post('Content-Type: application/json', `Content-Length: ${MAX_BYTES + 1}`);
    expect(outcome((await sendBytes(app, head))!)).toEqual(tooLarge(MAX_BYTES));
  });

  it('refuses a type that is given twice, the second of which nobody would read', async () => {
    const body = JSON.stringify(LOG);
    const types = ['Content-Type: application/json', 'content-type: text/plain'];
    const answer = await sendBytes(app, post(...types, `Content-Length: ${body.length}`) + body);
    expect(outcome(answer!)).toEqual([
      415,
      refusal('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must not be repeated'),
    ]);
  });
});

const FAULT = 'Idempotency-Key must be 1 to 255 printable ASCII characters';

const createWith = (key: string, body: unknown = LOG, headers = {}) =>
  create(app, body, { 'idempotency-key': key, ...headers });
const isReplay = ({ headers }: Answer) => headers.get('idempotency-replayed');
const newLog = () => ({ ...LOG, projectId: randomUUID() });

describe('POST /api/v1/time-logs with an Idempotency-Key', () => {
  it('answers the first create like any other, and a repeated one with the first answer', async () => {
    const [key, log] = [`'; "~" ${'a'.repeat(248)}`, newLog()];
    const first = await createWith(key, log);
    expect([first.status, isReplay(first)]).toEqual([201, null]);
    const second = await createWith(key, log);
    expect([second.status, second.text, isReplay(second)]).toEqual([201, first.text, 'true']);
    expect(await totalOf(app, `projectId=${log.projectId}`)).toBe(1);
  });

  it('refuses the key with other values', async () => {
    const [key, log] = [randomUUID(), newLog()];
    const first = await createWith(key, log);
    const reused = refusal('IDEMPOTENCY_KEY_REUSED', 'the Idempotency-Key was used with other values');
    expect(outcome(await createWith(key, { ...log, duration: 1.6 }))).toEqual([422, reused]);
    expect((await createWith(key, log)).text).toBe(first.text);
  });

  it('stores nothing for a create that is refused', async () => {
    const key = randomUUID();
    expect((await createWith(key, { ...LOG, duration: 0 })).status).toBe(400);
    expect((await createWith(key, LOG, { authorization: 'Bearer tl_wrong' })).status).toBe(401);
    const first = await createWith(key);
    expect([first.status, isReplay(first)]).toEqual([201, null]);
  });

  it.each([
    ['beyond ASCII', 'Idempotency-Key: é', FAULT],
    ['repeated', 'Idempotency-Key: a\r\nidempotency-KEY: a', 'Idempotency-Key must not be repeated'],
  ])('refuses a key %s', async (_what, header, message) => {
    const body = JSON.stringify(LOG);
    const head = post('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`, header);
    expect(outcome((await sendBytes(app, head + body))!)).toEqual(isInvalid(message));
  });
});
