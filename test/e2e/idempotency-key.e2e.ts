import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { defaultScopes } from '../support/compiled.js';
import { rawRequest } from '../support/raw-http.js';
import {
  type Answer,
  create,
  list,
  LOG,
  outcome,
  refusal,
  sendBytes,
  TIME_LOGS,
} from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const FAULT = 'Idempotency-Key must be 1 to 255 printable ASCII characters';

const app = useTestApp();

const createWith = (key: string, body: unknown = LOG, headers = {}) =>
  create(app, body, { 'idempotency-key': key, ...headers });
const isReplay = ({ headers }: Answer) => headers.get('idempotency-replayed');
const newLog = () => ({ ...LOG, projectId: randomUUID() });
const totalOf = async ({ projectId }: { projectId: string }) => {
  const { body } = await list(app, `projectId=${projectId}`);
  return (body as { meta: { total: number } }).meta.total;
};

describe('POST /api/v1/time-logs with an Idempotency-Key', () => {
  it('answers the first create as any other, and a repeated one with the first answer', async () => {
    const [key, log] = [randomUUID(), newLog()];
    const first = await createWith(key, log);
    expect(first.status).toBe(201);
    expect(isReplay(first)).toBeNull();
    const second = await createWith(key, log);
    expect(outcome(second)).toEqual(outcome(first));
    expect(second.text).toBe(first.text);
    expect(isReplay(second)).toBe('true');
    expect(await totalOf(log)).toBe(1);
  });

  it('compares values, not how they are written', async () => {
    const [key, log] = [randomUUID(), { ...newLog(), description: '' }];
    const first = await createWith(key, log);
    const { projectId, duration, date } = log;
    const same = `{"date":"${date}", "duration":${duration}00, "projectId":"${projectId.toUpperCase()}"}`;
    const second = await createWith(key, same);
    expect([isReplay(second), second.text]).toEqual(['true', first.text]);
  });

  it.each([
    ['projectId', randomUUID()],
    ['duration', 1.6],
    ['description', `${LOG.description} `],
    ['date', '2026-01-30'],
  ])('refuses the key with another %s', async (name, value) => {
    const [key, log] = [randomUUID(), newLog()];
    const first = await createWith(key, log);
    const reused = refusal('IDEMPOTENCY_KEY_REUSED', 'the Idempotency-Key was used with other values');
    expect(outcome(await createWith(key, { ...log, [name]: value }))).toEqual([422, reused]);
    expect((await createWith(key, log)).text).toBe(first.text);
  });

  it('makes one log of 50 creates at once, and gives its answer to all', async () => {
    const [key, log] = [randomUUID(), newLog()];
    const answers = await Promise.all(Array.from({ length: 50 }, () => createWith(key, log)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => isReplay(answer) === null)).toHaveLength(1);
    expect(await totalOf(log)).toBe(1);
  });

  it('keeps the keys of different tokens apart', async () => {
    const { token } = await app.tokens.create({ name: 'other', scopes: defaultScopes });
    const [key, log] = [randomUUID(), newLog()];
    const first = await createWith(key, log);
    const other = await createWith(key, log, { authorization: `Bearer ${token}` });
    expect([other.status, isReplay(other)]).toEqual([201, null]);
    expect(other.text).not.toBe(first.text);
    expect(await totalOf(log)).toBe(2);
  });

  it('stores nothing for a create that is refused', async () => {
    const [key, log] = [randomUUID(), newLog()];
    expect((await createWith(key, { ...log, duration: 0 })).status).toBe(400);
    expect((await createWith(key, log, { authorization: 'Bearer tl_wrong' })).status).toBe(401);
    const first = await createWith(key, log);
    expect([first.status, isReplay(first)]).toEqual([201, null]);
  });

  it.each(['a', '~'.repeat(255), 'with a space', '"quoted"', `'; drop table x; --`, 'a,b', 'null'])(
    'takes %p as a key',
    async (text) => {
      const log = newLog();
      expect((await createWith(text, log)).status).toBe(201);
      expect(isReplay(await createWith(text, log))).toBe('true');
    },
  );

  it.each([
    ['empty', 'Idempotency-Key: '],
    ['of 256 characters', `Idempotency-Key: ${'a'.repeat(256)}`],
    ['with a tab', 'Idempotency-Key: a\tb'],
    ['beyond ASCII', 'Idempotency-Key: é'],
  ])('refuses a key %s', async (_what, header) => {
    expect(await createRaw(header)).toEqual([400, refusal('VALIDATION_ERROR', FAULT)]);
  });

  it('refuses a repeated header, in any case', async () => {
    const repeated = refusal('VALIDATION_ERROR', 'Idempotency-Key must not be repeated');
    expect(await createRaw('Idempotency-Key: a\r\nidempotency-KEY: a')).toEqual([400, repeated]);
  });
});

async function createRaw(header: string): Promise<[number, unknown]> {
  const body = JSON.stringify(LOG);
  const head = rawRequest(
    `POST ${TIME_LOGS} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${app.token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    header,
  );
  return outcome((await sendBytes(app, head + body))!);
}
