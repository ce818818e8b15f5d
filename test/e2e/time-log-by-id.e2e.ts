import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { expectedItem, expectedLog, type Made } from '../support/expected-logs.js';
import { DataSource } from 'typeorm';
import {
  correct,
  create,
  dataOf,
  get,
  idOf,
  list,
  LOG,
  outcome,
  patch,
  refusal,
  remove,
  totalOf,
} from '../support/requests.js';
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

  it('empties a description that is left out', async () => {
    const log = await made();
    const emptied = expectedLog({ ...OTHER, description: '' }, log);
    expect(dataOf(await correct(app, log.id, OTHER))).toEqual(emptied);
    expect(dataOf(await get(app, log.id))).toEqual(emptied);
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

  it('leaves the first answer to retries of the create, which make no log', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const log = { ...LOG, projectId: randomUUID() };
    const first = await create(app, log, headers);
    await remove(app, idOf(first));
    const again = await create(app, log, headers);
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect((await create(app, { ...log, duration: 9 }, headers)).status).toBe(422);
    expect(await totalOf(app, `projectId=${log.projectId}`)).toBe(0);
  });
});

describe('GET /api/v1/time-logs/{id}', () => {
  it('answers the log as it was answered when it was recorded', async () => {
    const created = await create(app);
    const id = idOf(created);
    for (const written of [id.toUpperCase(), `${id}/`])
      expect(outcome(await get(app, written))).toEqual([200, created.body]);
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
    await eventually(async () => {
      const waiting = await sql.query<unknown[]>(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect(waiting.length).toBeGreaterThan(1);
    });
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
