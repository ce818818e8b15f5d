import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { expectedLog, type Made } from '../support/expected-logs.js';
import { answersIn, rawRequest, sendRaw } from '../support/raw-http.js';
import {
  type Answer,
  correct,
  create,
  dataOf,
  get,
  idOf,
  LOG,
  messageOf,
  outcome,
  patch,
  refusal,
  remove,
  send,
  type Sending,
  TIME_LOGS,
} from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const NONE = [404, refusal('NOT_FOUND', 'there is no time log with this id')];
const CHANGED = [412, refusal('PRECONDITION_FAILED', 'the log has changed since: get it again')];
const EXCLUDED = [
  412,
  refusal(
    'PRECONDITION_FAILED',
    'If-None-Match excludes this version of the log: send If-Match with the version to change',
  ),
];

const app = useTestApp();
const etagOf = ({ headers }: Answer) => headers.get('etag');

/** The changes of a log, by the header of their condition. */
const CHANGES: readonly [string, (id: string, headers: Sending['headers']) => Promise<Answer>, number][] = [
  ['PUT', (id, headers) => correct(app, id, { ...LOG, duration: 9 }, headers), 200],
  ['PATCH', (id, headers) => patch(app, id, { duration: 9 }, headers), 200],
  ['DELETE', (id, headers) => remove(app, id, headers === undefined ? {} : { headers }), 204],
];

it('the version of a log is the ETag of each answer with it, and of no other', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  const created = await create(app, LOG, headers);
  const id = idOf(created);
  const first = etagOf(created);
  expect(first).toMatch(/^"[\w-]{22}"$/);
  const conditional = { headers: { 'if-none-match': first! } };
  expect(outcome(await send(app, `${TIME_LOGS}/${id}`, conditional))).toEqual([200, created.body]);
  const corrected = await correct(app, id, { ...LOG, duration: 2 });
  const patched = await patch(app, id, { duration: 3 });
  const versions = [first, etagOf(corrected), etagOf(patched)];
  expect(new Set(versions).size).toBe(3);
  expect(etagOf(await get(app, id))).toBe(versions[2]);
  expect(etagOf(await send(app, `${TIME_LOGS}/${id}`, { method: 'HEAD' }))).toBe(versions[2]);
  const back = await patch(app, id, LOG);
  const replay = await create(app, LOG, headers);
  expect([etagOf(back), etagOf(replay)]).toEqual([first, first]);
  for (const other of [await send(app, TIME_LOGS), await remove(app, id), await get(app, id)])
    expect(etagOf(other)).toBeNull();
});

describe.each(CHANGES)('If-Match of %s', (method, change, success) => {
  it('lets only a version that it names be changed', async () => {
    const created = await create(app);
    const [id, old] = [idOf(created), etagOf(created)!];
    const current = etagOf(await patch(app, id, { duration: 9 }))!;
    for (const condition of [old, `w/${current}`, 'x', '', `"x", ${current}x`])
      expect(outcome(await change(id, { 'if-match': condition }))).toEqual(CHANGED);
    expect(etagOf(await get(app, id))).toBe(current);
    expect((await change(id, { 'if-match': `W/"x", ${old},${current}` })).status).toBe(success);
    expect(outcome(await change(randomUUID(), { 'if-match': old }))).toEqual(NONE);
  });

  it('is no condition as *, and a list in several lines', async () => {
    for (const lines of [['If-Match: *'], ['If-Match: "x"', 'If-Match: {etag}']]) {
      const created = await create(app);
      const body = method === 'DELETE' ? '' : JSON.stringify({ ...LOG, duration: 9 });
      const bytes = rawRequest(
        `${method} ${TIME_LOGS}/${idOf(created)} HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${app.token}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        ...lines.map((line) => line.replace('{etag}', etagOf(created)!)),
      );
      const received = await sendRaw(app.port, bytes + body, (soFar) => answersIn(soFar).length === 1);
      expect(answersIn(received).map(({ status }) => status)).toEqual([success]);
    }
  });
});

describe.each(CHANGES)('If-None-Match of %s', (_method, change, success) => {
  it('keeps a version that it names', async () => {
    const created = await create(app);
    const [id, current] = [idOf(created), etagOf(created)!];
    for (const condition of ['*', current, `W/${current}`, `"x", ${current.slice(0, -1)}-br"`]) {
      expect(outcome(await change(id, { 'if-none-match': condition }))).toEqual(EXCLUDED);
      expect(outcome(await change(id, { 'if-match': current, 'if-none-match': condition }))).toEqual(
        EXCLUDED,
      );
    }
    expect(outcome(await change(id, { 'if-match': '"x"', 'if-none-match': '*' }))).toEqual(CHANGED);
    expect((await get(app, id)).text).toBe(created.text);
    for (const condition of ['*', current])
      expect(outcome(await change(randomUUID(), { 'if-none-match': condition }))).toEqual(NONE);
    expect((await change(id, { 'if-none-match': `"x", x, ${current}x` })).status).toBe(success);
  });
});

describe('PATCH /api/v1/time-logs/{id}', () => {
  it('changes the values that it names, and keeps the others', async () => {
    const created = await create(app);
    const id = idOf(created);
    let log: typeof LOG = LOG;
    for (const [changes, type] of [
      [{ duration: 2 }, 'application/json'],
      [{ projectId: randomUUID(), date: '2024-02-29' }, 'application/merge-patch+json; charset=utf-8'],
      [{ description: null }, 'Application/Merge-Patch+JSON'],
      [{}, 'application/json;charset=utf8'],
    ] as const) {
      log = { ...log, ...changes, description: 'description' in changes ? '' : log.description };
      const answer = await patch(app, id.toUpperCase(), changes, { 'content-type': type });
      const data = expectedLog(log, dataOf(created) as Made);
      expect(outcome(answer)).toEqual([200, { success: true, data }]);
      expect((await get(app, id)).text).toBe(answer.text);
    }
  });

  it.each<[unknown, Sending['headers'], number, string]>([
    [{ foo: 1, duration: 0 }, {}, 400, 'duration must be a positive number; unknown field: foo'],
    [
      {},
      { 'content-type': 'application/json-patch+json' },
      415,
      'Content-Type must be application/merge-patch+json or application/json in UTF-8',
    ],
  ])('refuses %j %j', async (body, headers, status, message) => {
    const created = await create(app);
    const answer = await patch(app, idOf(created), body, headers);
    expect([answer.status, messageOf(answer)]).toEqual([status, message]);
    expect(answer.headers.get('accept-patch')).toBe(
      status === 415 ? 'application/merge-patch+json, application/json' : null,
    );
    expect((await get(app, idOf(created))).text).toBe(created.text);
  });

  it('reports a missing log before it checks the values', async () => {
    expect(outcome(await patch(app, randomUUID(), { duration: 0 }))).toEqual(NONE);
  });
});
