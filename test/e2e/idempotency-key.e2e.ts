import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { rawRequest } from '../support/raw-http.js';
import {
  type Answer,
  create,
  LOG,
  outcome,
  refusal,
  sendBytes,
  TIME_LOGS,
  totalOf,
} from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const FAULT = 'Idempotency-Key must be 1 to 255 printable ASCII characters';

const app = useTestApp();

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

  it('compares values, not how they are written', async () => {
    const [key, log] = [randomUUID(), { ...newLog(), description: '' }];
    const first = await createWith(key, log);
    const { projectId, duration, date } = log;
    const same = `{"date":"${date}", "duration":${duration}00, "projectId":"${projectId.toUpperCase()}"}`;
    for (const text of [same, `\uFEFF${same}`]) {
      const again = await createWith(key, text);
      expect([isReplay(again), again.text]).toEqual(['true', first.text]);
    }
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
    const head = rawRequest(
      `POST ${TIME_LOGS} HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${app.token}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      header,
    );
    const answer = await sendBytes(app, head + body);
    expect(outcome(answer!)).toEqual([400, refusal('VALIDATION_ERROR', message)]);
  });
});
