import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../src/time-log/contract/eventually.js';
import { expectedItem, expectedLog, type Made } from '../support/expected-logs.js';
import { DataSource } from '../support/compiled.js';
import { answersIn, rawRequest, sendRaw } from '../support/raw-http.js';
import {
  type Answer,
  create,
  dataOf,
  list,
  LOG,
  outcome,
  refusal,
  send,
  type Sending,
  TIME_LOGS,
} from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const NONE = [404, refusal('NOT_FOUND', 'there is no time log with this id')];
const OTHER = { projectId: '9a4f3c52-0d0b-4f5e-8f6e-5a3b7c1d2e90', duration: 0.2, date: '2024-02-29' };
const isInvalid = (message: string) => [400, refusal('VALIDATION_ERROR', message)];

const app = useTestApp();

/** The log that was made of these values. */
const made = async (log: object = LOG) => dataOf(await create(app, log)) as Made & { id: string };
const correct = (id: string, body: unknown = OTHER, headers: Sending['headers'] = {}) =>
  send(app, `${TIME_LOGS}/${id}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
const get = (id: string) => send(app, `${TIME_LOGS}/${id}`);
const totalsOf = async (projectId: string) => {
  const { body } = await send(app, `${TIME_LOGS}/totals?projectId=${projectId}`);
  const { count, duration } = (body as { meta: { count: number; duration: number } }).meta;
  return { count, duration };
};
const withoutIds = ({ status, body }: Answer) =>
  status < 300 ? [expectedLog(LOG, { id: '', createdAt: '' })] : [status, body];

describe('PUT /api/v1/time-logs/{id}', () => {
  it('replaces all values of a log, and keeps its id and when it was made', async () => {
    const log = await made();
    for (const written of [log.id, log.id.toUpperCase(), `${log.id}/`]) {
      const values = { ...OTHER, description: written };
      const answer = await correct(written, values);
      expect(outcome(answer)).toEqual([200, { success: true, data: expectedLog(values, log) }]);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect((await get(log.id)).text).toBe(answer.text);
    }
  });

  it('empties a description that is left out', async () => {
    const log = await made();
    expect(dataOf(await correct(log.id, OTHER))).toEqual(expectedLog({ ...OTHER, description: '' }, log));
    expect(dataOf(await get(log.id))).toEqual(expectedLog({ ...OTHER, description: '' }, log));
  });

  it('moves the log in lists, counts and sums at once', async () => {
    const [from, to] = [randomUUID(), randomUUID()];
    const log = await made({ ...LOG, projectId: from, duration: 15 });
    await made({ ...LOG, projectId: from, duration: 0.1 });
    await correct(log.id, { ...LOG, projectId: from, duration: 1.5 });
    expect(await totalsOf(from)).toEqual({ count: 2, duration: 1.6 });
    const values = { ...LOG, projectId: to, duration: 1.5, date: '0001-01-01' };
    await correct(log.id, values);
    expect([await totalsOf(from), await totalsOf(to)]).toEqual([
      { count: 1, duration: 0.1 },
      { count: 1, duration: 1.5 },
    ]);
    expect(dataOf(await list(app, `projectId=${to}&to=0001-01-01`))).toEqual([expectedItem(values, log)]);
  });

  it('answers alike where nothing changes, and then writes nothing', async () => {
    const log = await made();
    const first = await correct(log.id);
    const rowOf = () =>
      app.dataSource.query<unknown[]>('select ctid, xmin, xmax from time_logs where id = $1', [log.id]);
    const row = await rowOf();
    expect(outcome(await correct(log.id, { ...OTHER, projectId: OTHER.projectId.toUpperCase() }))).toEqual(
      outcome(first),
    );
    expect(await rowOf()).toEqual(row);
  });

  it('never makes a log', async () => {
    for (const id of [randomUUID(), '019c1363-4a3b-7245-b697-5dec9f548a52']) {
      expect(outcome(await correct(id))).toEqual(NONE);
      expect(outcome(await get(id))).toEqual(NONE);
    }
  });

  it('takes what a create takes, and refuses what it refuses, in the same words', async () => {
    const log = await made();
    const without = (...members: string[]) =>
      Object.fromEntries(Object.entries(LOG).filter(([name]) => !members.includes(name)));
    const nested = `${'['.repeat(9)}${']'.repeat(9)}`;
    const bodies: readonly (readonly [unknown, Sending['headers']?])[] = [
      ...Object.keys(LOG).map((name) => [without(name)] as const),
      ...[0, -1, '1', null, [1]].map((duration) => [{ ...LOG, duration }] as const),
      ['{"duration":1e400}'],
      [{ projectId: 'x', duration: 0, description: null, date: '2026-02-30', foo: 1, id: randomUUID() }],
      [{ ...LOG, createdAt: '2026-01-31T09:30:00.123Z' }],
      [{ ...LOG, description: 'a\u0000b' }],
      [{ ...LOG, description: '\ud800' }],
      [{ ...LOG, description: '😀'.repeat(5001) }],
      ['{"duration":1,"duration":0}'],
      [''],
      ['{'],
      ['null'],
      ['[]'],
      [`{"duration":${nested}}`],
      [Buffer.from([0x7b, 0xff, 0x7d])],
      [`${JSON.stringify(LOG)}${' '.repeat(70_000)}`],
      [LOG, { 'content-type': 'text/plain' }],
      [LOG, { 'content-type': undefined }],
      [LOG, { 'content-type': 'application/json; charset=utf-16' }],
      [LOG, { 'content-encoding': 'gzip' }],
      [LOG, { expect: 'foo' }],
      [LOG, { 'content-type': 'application/json;charset=UTF-8' }],
    ];
    const statuses = new Set<number>();
    for (const [body, headers] of bodies) {
      const [created, corrected] = [await create(app, body, headers), await correct(log.id, body, headers)];
      expect([body, withoutIds(corrected)]).toEqual([body, withoutIds(created)]);
      statuses.add(corrected.status);
    }
    expect([...statuses].toSorted()).toEqual([200, 400, 413, 415, 417]);
  });

  it('names what is wrong with id and query before it looks at the body', async () => {
    const log = await made();
    const { id } = log;
    for (const [body, headers] of [[LOG], ['{'], [LOG, { 'content-type': 'text/plain' }]] as const) {
      expect(outcome(await correct('x', body, headers))).toEqual(isInvalid('id must be a UUID'));
      expect(outcome(await correct(`${id}?page=1&id=2`, body, headers))).toEqual(
        isInvalid('id must not be repeated; unknown parameter: page'),
      );
    }
    expect(dataOf(await get(id))).toEqual(expectedLog(LOG, log));
  });

  it('needs no key, and takes none', async () => {
    const { id } = await made();
    for (const key of ['key', 'key', 'é', 'a'.repeat(300)]) {
      const values = { ...OTHER, description: key };
      const answer = await correct(id, values, { 'idempotency-key': Buffer.from(key).toString('latin1') });
      expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([200, null]);
    }
  });

  it('lets the later commit count where several correct one log at once', async () => {
    const log = await made({ ...LOG, projectId: randomUUID() });
    const projectId = randomUUID();
    const all = Array.from({ length: 30 }, (_, index) => ({
      ...LOG,
      projectId,
      duration: index + 1,
      description: String(index + 1),
    }));
    const answers = await Promise.all(all.map((values) => correct(log.id, values)));
    expect(answers.map(outcome)).toEqual(
      all.map((values) => [200, { success: true, data: expectedLog(values, log) }]),
    );
    const last = dataOf(await get(log.id)) as { duration: number };
    expect(last).toEqual(expectedLog(all[last.duration - 1]!, log));
    expect(await totalsOf(projectId)).toEqual({ count: 1, duration: last.duration });
  });

  it('leaves the first answer to retries of the create', async () => {
    const [key, log] = [randomUUID(), { ...LOG, projectId: randomUUID(), duration: 15 }];
    const first = await create(app, log, { 'idempotency-key': key });
    const { id } = dataOf(first) as { id: string };
    const corrected = { ...log, duration: 1.5 };
    await correct(id, corrected);
    const again = await create(app, log, { 'idempotency-key': key });
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect((await create(app, corrected, { 'idempotency-key': key })).status).toBe(422);
    expect(await totalsOf(log.projectId)).toEqual({ count: 1, duration: 1.5 });
  });

  it('answers in turn where a create is pipelined behind it', async () => {
    const { id } = await made();
    const body = JSON.stringify({ ...OTHER, description: 'pipelined' });
    const head = (line: string) =>
      rawRequest(
        `${line} HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${app.token}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
      );
    const bytes = head(`PUT ${TIME_LOGS}/${id}`) + body + head(`POST ${TIME_LOGS}`) + body;
    const received = await sendRaw(app.port, bytes, (soFar) => answersIn(soFar).length === 2);
    expect(answersIn(received).map(({ status }) => status)).toEqual([200, 201]);
    expect(dataOf(await get(id))).toMatchObject({ description: 'pipelined' });
  });
});

it('corrections and deletions that wait for rows, which SQL holds, leave creates and lists their connections', async () => {
  const logs = await Promise.all(Array.from({ length: 24 }, () => made()));
  const sql = await new DataSource({ type: 'postgres', url: app.databaseUrl }).initialize();
  const holder = sql.createQueryRunner();
  try {
    await holder.query('begin');
    await holder.query('select from time_logs where id = any($1) for update', [logs.map(({ id }) => id)]);
    const changes = logs.map(({ id }, index) =>
      index % 2 ? correct(id) : send(app, `${TIME_LOGS}/${id}`, { method: 'DELETE' }),
    );
    const again = Array.from({ length: 24 }, () => correct(logs[1]!.id));
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
