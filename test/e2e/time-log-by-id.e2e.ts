import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { expectedItem, expectedLog, type Made } from '../support/expected-logs.js';
import { DataSource } from 'typeorm';
import {
  type Answer,
  correct,
  create,
  dataOf,
  get,
  idOf,
  list,
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
import { untilWaiting } from '../support/storage.js';
import { useTestApp } from '../support/test-app.js';

const NONE = [404, refusal('NOT_FOUND', 'there is no time log with this id')];
const OTHER = { projectId: '9a4f3c52-0d0b-4f5e-8f6e-5a3b7c1d2e90', duration: 0.2, date: '2024-02-29' };

const app = useTestApp();

/** The log that was made of these values. */
const made = async (log: object = LOG) => dataOf(await create(app, log)) as Made & { id: string };

describe('PUT /api/v1/time-logs/{id}', () => {
  it('replaces all values of a log, and keeps its id and when it was made', async () => {
    const log = await made();
    const other = { ...OTHER, projectId: randomUUID() };
    for (const written of [log.id, log.id.toUpperCase(), `${log.id}/`]) {
      const values = { ...other, description: written };
      const answer = await correct(app, written, values);
      expect(outcome(answer)).toEqual([200, { success: true, data: expectedLog(values, log) }]);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect((await get(app, log.id)).text).toBe(answer.text);
    }
    expect(dataOf(await list(app, `projectId=${other.projectId}`))).toEqual([
      expectedItem({ ...other, description: `${log.id}/` }, log),
    ]);
  });

  it('takes the log as it was got, and changes neither its id nor when it was made', async () => {
    const log = await made();
    const got = dataOf(await get(app, log.id)) as Record<string, unknown>;
    expect(dataOf(await correct(app, log.id, got))).toEqual(got);
    const edited = { ...got, id: log.id.toUpperCase(), description: 'edited' };
    for (const change of [correct, patch])
      expect(dataOf(await change(app, log.id, edited))).toEqual({ ...got, description: 'edited' });
    const ofAnother = { ...edited, id: randomUUID(), createdAt: '2026-01-31T09:30:00.123Z', duration: 0 };
    const message =
      'duration must be a positive number; id must be that of the log; createdAt must be that of the log';
    for (const change of [correct, patch])
      expect(outcome(await change(app, log.id, ofAnother))).toEqual([
        400,
        refusal('VALIDATION_ERROR', message),
      ]);
    await remove(app, log.id);
    for (const change of [correct, patch]) expect(outcome(await change(app, log.id, got))).toEqual(NONE);
  });
});

describe('DELETE /api/v1/time-logs/{id}', () => {
  it('answers 204 without a body, and the log is gone', async () => {
    for (const written of [(id: string) => id.toUpperCase(), (id: string) => `${id}/`]) {
      const { id } = await made();
      const answer = await remove(app, written(id));
      expect([answer.status, answer.text]).toEqual([204, '']);
      for (const name of ['content-type', 'content-length', 'transfer-encoding'])
        expect(answer.headers.has(name)).toBe(false);
      for (const missing of [await get(app, id), await remove(app, id)])
        expect(outcome(missing)).toEqual(NONE);
    }
  });
});

it('corrections and deletions that wait for rows, which SQL holds, leave creates and lists their connections', async () => {
  const logs = await Promise.all(Array.from({ length: 24 }, () => made()));
  const sql = await new DataSource({ type: 'postgres', url: app.databaseUrl }).initialize();
  const holder = sql.createQueryRunner();
  try {
    await holder.query('begin');
    await holder.query('select from time_logs where id = any($1) for update', [logs.map(({ id }) => id)]);
    const changes = logs.map(({ id }, index) => (index % 2 ? correct(app, id, OTHER) : remove(app, id)));
    const again = Array.from({ length: 24 }, () => correct(app, logs[1]!.id, OTHER));
    await untilWaiting(sql, 2);
    for (let turn = 0; turn < 3; turn++) {
      expect((await create(app)).status).toBe(201);
      expect((await list(app)).status).toBe(200);
    }
    await holder.query('commit');
    const statuses = (await Promise.all([...changes, ...again])).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([204, 200]));
  } finally {
    await holder.release();
    await sql.destroy();
  }
});

const CHANGED = [412, refusal('PRECONDITION_FAILED', 'the log has changed since: get it again')];
const EXCLUDED = [
  412,
  refusal(
    'PRECONDITION_FAILED',
    'If-None-Match excludes this version of the log: send If-Match with the version to change',
  ),
];

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

describe.each(CHANGES)('If-Match of %s', (_method, change, success) => {
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

  it('is no condition as *', async () => {
    expect((await change(idOf(await create(app)), { 'if-match': '*' })).status).toBe(success);
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

  it('refuses another type, and says which it takes', async () => {
    const created = await create(app);
    const answer = await patch(app, idOf(created), {}, { 'content-type': 'application/json-patch+json' });
    expect([answer.status, messageOf(answer), answer.headers.get('accept-patch')]).toEqual([
      415,
      'Content-Type must be application/merge-patch+json or application/json in UTF-8',
      'application/merge-patch+json, application/json',
    ]);
    expect((await get(app, idOf(created))).text).toBe(created.text);
  });

  it('reports a missing log before it checks the values', async () => {
    expect(outcome(await patch(app, randomUUID(), { duration: 0 }))).toEqual(NONE);
  });
});
