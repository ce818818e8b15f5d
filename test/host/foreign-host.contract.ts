import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { eventually } from '../support/eventually.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { expectedLog } from '../support/expected-logs.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { unusedPort } from '../support/unused-port.js';
import { type HostOptions, SCHEMA } from './host.js';
import { expectOurRoutes } from './our-routes.js';

const HOSTED = { projectId: randomUUID(), duration: 0.1, description: 'hosted', date: '2026-01-30' };

interface Sending {
  readonly method?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A host app that listens. */
export interface RunningHost {
  readonly url: string;
  readonly close: () => Promise<unknown>;
}

const refusal = (error: string, message: string) => ({ success: false, error, message });

/** The answer of a host to a message over TCP: its length, `#`, and JSON, as Nest writes it. */
async function answerTo(port: number, pattern: string, data: unknown): Promise<unknown> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const message = JSON.stringify({ pattern, data, id: '1' });
  socket.write(`${message.length}#${message}`);
  let answer = '';
  for await (const chunk of socket) {
    answer += String(chunk);
    const [length, text] = answer.split(/#(.*)/s) as [string, string?];
    if (text?.length === Number(length)) return JSON.parse(text);
  }
  throw new Error('the connection ended without an answer');
}

/** Checks every host app, with any build and any way to import time logs. */
export function describeForeignHost(name: string, startHost: (options: HostOptions) => Promise<RunningHost>) {
  describe(name, () => {
    let database: TestDatabase;
    let host: RunningHost;
    let messagesPort: number;

    const send = async (path: string, init: Sending = {}) => {
      const headers = {
        'content-type': 'application/json',
        ...(init.token && { authorization: `Bearer ${init.token}` }),
        ...init.headers,
      };
      const response = await fetch(`${host.url}/internal${path}`, { ...init, headers });
      return [response.status, await response.json()] as [number, unknown];
    };
    const post = (path: string, token: string, values = {}, headers = {}) => {
      const body = JSON.stringify({ ...HOSTED, ...values });
      return send(path, { method: 'POST', token, headers, body });
    };
    const query = <Row extends object>(sql: string, parameters?: unknown[]) =>
      queryOnce<Row>(database.url, sql, parameters);
    const descriptions = (body: unknown) =>
      (body as { data: { description: string }[] }).data.map(({ description }) => description);

    beforeAll(async () => {
      database = await createTestDatabase();
      await query(`create schema "${SCHEMA}"`);
      messagesPort = await unusedPort();
      host = await startHost({ databaseUrl: database.url, messagesPort });
    });
    afterAll(async () => {
      await host.close();
      await database.drop();
    });

    it('has the tables in its own schema under its own prefix, made by its own migration run', async () => {
      const rows = await query<{ table_name: string }>(
        `select table_name from information_schema.tables where table_schema = $1 order by 1`,
        [SCHEMA],
      );
      const names = rows.map(({ table_name }) => table_name);
      const ofLogs = ['changes', 'decades', 'deletions', 'departures', 'folds', 'keys', 'months'];
      const tables = ['approvals', ...ofLogs.map((table) => `time_log_${table}`), 'time_logs'];
      expect(names).toEqual(['migrations', ...tables.map((table) => `our_${table}`)]);
    });

    it('records and lists under its own path, with its own tokens', async () => {
      const projectId = randomUUID();
      const [status, created] = await post('/work/time-logs', 'worker', { projectId });
      const { date, ...item } = (created as { data: Record<string, unknown> }).data;
      expect([status, date]).toEqual([201, '2026-01-30']);
      expect(await send(`/work/time-logs?projectId=${projectId}`, { token: 'reader' })).toEqual([
        200,
        { success: true, data: [item], meta: { total: 1, page: 1, limit: 50 } },
      ]);
    });

    it('leads to its own paths, wherever they are mounted', async () => {
      const headers = { 'content-type': 'application/json', authorization: 'Bearer worker' };
      const url = `${host.url}/internal/work/time-logs`;
      const created = await fetch(url, { method: 'POST', headers, body: JSON.stringify(HOSTED) });
      const { data } = (await created.json()) as { data: { id: string } };
      const location = new URL(created.headers.get('location')!, url);
      expect(location.href).toBe(`${url}/${data.id}`);
      const listed = await fetch(`${url}?limit=1`, { headers: { authorization: 'Bearer reader' } });
      expect(listed.headers.get('link')).toMatch(/^<\?page=1&limit=1>; rel="first"/);
    });

    it('makes one log of a request that is sent again with its key', async () => {
      const key = { 'idempotency-key': 'once' };
      const first = await post('/work/time-logs', 'worker', { description: 'once' }, key);
      expect(first).toMatchObject([201, { data: { description: 'once' } }]);
      expect(await post('/work/time-logs', 'worker', { description: 'once' }, key)).toEqual(first);
      expect(await post('/work/time-logs', 'worker', { description: 'twice' }, key)).toEqual([
        422,
        refusal('IDEMPOTENCY_KEY_REUSED', 'the Idempotency-Key was used with other values'),
      ]);
    });

    it('gives the error envelope on the routes of time logs alone', async () => {
      const unauthorized = refusal('UNAUTHORIZED', 'a valid bearer token is required');
      const forbidden = refusal('FORBIDDEN', 'the token lacks the scope time-logs:write');
      const invalid = refusal('VALIDATION_ERROR', 'duration must be a positive number; unknown field: x');
      const unavailable = refusal(
        'SERVICE_UNAVAILABLE',
        'the service is unavailable at the moment; retry later',
      );
      expect(await send('/work/time-logs')).toEqual([401, unauthorized]);
      expect(await send('/work/time-logs', { token: 'stranger' })).toEqual([401, unauthorized]);
      expect(await send('/work/time-logs', { token: 'unverifiable' })).toEqual([503, unavailable]);
      expect(await post('/work/time-logs', 'reader')).toEqual([403, forbidden]);
      expect(await post('/work/time-logs', 'worker', { duration: 0, x: 1 })).toEqual([400, invalid]);
      expect(await send('/approvals')).toEqual([409, { host: 'a conflict of the host' }]);
      expect(await send('/nowhere')).toEqual([404, { host: 'Cannot GET /internal/nowhere' }]);
    });

    it('guards a route of its own', async () => {
      expect(await send('/approvals/mine', { token: 'approver' })).toEqual([200, { of: 'approver' }]);
      expect(await send('/approvals/mine', { token: 'worker' })).toEqual([
        403,
        { success: false, error: 'FORBIDDEN', message: 'the token lacks the scope approvals:read' },
      ]);
    });

    it('guards a message handler of its own, and answers what is thrown there', async () => {
      const ask = (pattern: string, data: unknown) => answerTo(messagesPort, pattern, data);
      const unauthorized = refusal('UNAUTHORIZED', 'a valid bearer token is required');
      expect(await ask('whose', { accessToken: 'approver' })).toMatchObject({ response: { of: 'approver' } });
      for (const data of [{}, [], 'x', null, { accessToken: 'stranger' }]) {
        expect(await ask('whose', data)).toMatchObject({ err: unauthorized });
      }
      expect(await ask('whose', { accessToken: 'worker' })).toMatchObject({
        err: refusal('FORBIDDEN', 'the token lacks the scope approvals:read'),
      });
      expect(await ask('conflict', {})).toMatchObject({
        err: refusal('CONFLICT', 'a conflict of the host'),
      });
      expect(await ask('guarded', {})).toMatchObject({ err: { message: 'Internal server error' } });
      expect(await ask('guarded', { accessToken: 'worker' })).toMatchObject({ response: {} });
    });

    it('extends time logs through the exported service and port', async () => {
      const projectId = randomUUID();
      const [status, approval] = await send(`/approvals/${projectId}`, { method: 'POST' });
      const [, listed] = await send(`/work/time-logs?projectId=${projectId}`, { token: 'reader' });
      const [log] = (listed as { data: { id: string }[] }).data;
      expect(descriptions(listed)).toEqual(['approved']);
      expect([status, approval]).toEqual([201, { logId: log?.id, approvedBy: 'Ada' }]);
      expect(await send(`/approvals/total/${projectId}`)).toEqual([200, { total: 1 }]);
    });

    it('takes a log back with its own transaction', async () => {
      const projectId = randomUUID();
      expect(await send(`/approvals/${projectId}/revoked`, { method: 'POST' })).toEqual([
        409,
        { host: 'revoked' },
      ]);
      expect(await send(`/approvals/total/${projectId}`)).toEqual([200, { total: 0 }]);
    });

    it('relates an entity of its own to a log', async () => {
      const projectId = randomUUID();
      const [, approval] = await send(`/approvals/${projectId}`, { method: 'POST' });
      await send(`/approvals/${randomUUID()}`, { method: 'POST' });
      const { logId, approvedBy } = approval as { logId: string; approvedBy: string };
      const approved = { projectId, duration: 1, description: 'approved', date: '2026-01-31' };
      const log = expectedLog(approved, { id: logId, createdAt: expect.any(String) });
      expect(await send(`/approvals/of/${projectId}`)).toEqual([200, [{ logId, approvedBy, log }]]);
    });

    it('corrects and deletes a log, but for one that an entity of its own relates to', async () => {
      const [, recorded] = await post('/work/time-logs', 'worker', { description: 'wrong' });
      const { id } = (recorded as { data: { id: string } }).data;
      const change = (path: string, method: string, description?: string) =>
        fetch(`${host.url}/internal/work/time-logs/${path}`, {
          method,
          headers: { authorization: 'Bearer clerk', 'content-type': 'application/json' },
          ...(description !== undefined && { body: JSON.stringify({ ...HOSTED, description }) }),
        });
      const corrected = await change(id, 'PUT', 'right');
      expect([corrected.status, await corrected.json()]).toMatchObject([
        200,
        { data: { id, description: 'right' } },
      ]);
      expect((await change(id, 'DELETE')).status).toBe(204);
      expect((await change(id, 'DELETE')).status).toBe(404);

      const [, approval] = await send(`/approvals/${randomUUID()}`, { method: 'POST' });
      const refused = await change((approval as { logId: string }).logId, 'DELETE');
      expect([refused.status, await refused.json()]).toEqual([
        409,
        refusal('CONFLICT', 'other records refer to this time log'),
      ]);
    });

    it('has the feed', async () => {
      const [, recorded] = await post('/work/time-logs', 'worker', { description: 'told' });
      const { data } = recorded as { data: { id: string } };
      // Transactions of other tests, on the same server, may hold the event back.
      await eventually(async () => {
        const [status, events] = await send('/work/time-logs/events?limit=1000', { token: 'reader' });
        expect([status, (events as { data: object }[]).at(-1)?.data]).toEqual([200, data]);
      });
    });

    it('shows the routes whole on a page of its own, but for what only our own app does', async () => {
      const document = (await (await fetch(`${host.url}/docs-json`)).json()) as OpenAPIObject;
      expect(Object.keys(document.paths)).toContain('/internal/approvals/mine');
      expectOurRoutes(document, '/internal/work');
    });
  });
}
