import { once } from 'node:events';
import { ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import {
  create,
  dataOf,
  get,
  idOf,
  LOG,
  outcome,
  PROJECT,
  refusal,
  send,
  TIME_LOGS,
} from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const OTHER = '9a4f3c52-0d0b-4f5e-8f6e-5a3b7c1d2e90';
const EXPORT = `${TIME_LOGS}/export`;
const HEADER = 'id,projectId,date,duration,description,createdAt';

const app = useTestApp();
let ids: string[];
beforeAll(async () => {
  ids = [];
  for (const log of [
    { ...LOG, date: '2026-02-01' },
    { ...LOG, date: '2026-01-31', description: 'one, "two"\nthree', duration: 1e-7 },
    { ...LOG, date: '2026-01-31', description: '', projectId: OTHER, duration: 1e21 },
  ])
    ids.push(idOf(await create(app, log)));
});

const exported = (query = '', { method = 'GET', token = app.token } = {}) =>
  send({ port: app.port, token }, `${EXPORT}${query}`, { method });
const getData = async (id: string) => (await get(app, id)).text.slice('{"success":true,"data":'.length, -1);
const createdAt = async (id: string) => (dataOf(await get(app, id)) as { createdAt: string }).createdAt;
const PLACE = /^\d+-ffffffff-ffff-ffff-ffff-fffffffffff[ef]$/;

describe('GET /api/v1/time-logs/export', () => {
  it('exports CSV, the oldest day first', async () => {
    const { status, headers, text } = await exported();
    expect([status, text]).toEqual([
      200,
      [
        HEADER,
        `${ids[1]},${PROJECT},2026-01-31,1e-7,"one, ""two""\nthree",${await createdAt(ids[1]!)}`,
        `${ids[2]},${OTHER},2026-01-31,1e+21,"",${await createdAt(ids[2]!)}`,
        `${ids[0]},${PROJECT},2026-02-01,1.5,${LOG.description},${await createdAt(ids[0]!)}\n`,
      ].join('\n'),
    ]);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="time-logs.csv"',
      'x-total-count': '3',
      'last-event-id': expect.stringMatching(PLACE),
      'cache-control': 'no-store',
    });
  });

  it('exports NDJSON, each line what GET of the log has', async () => {
    const { headers, text } = await exported('?format=ndjson');
    const lines = await Promise.all([ids[1]!, ids[2]!, ids[0]!].map(getData));
    expect(text).toBe(lines.map((line) => `${line}\n`).join(''));
    expect(headers.get('content-type')).toBe('application/x-ndjson');
    expect(headers.get('content-disposition')).toBe('attachment; filename="time-logs.ndjson"');
  });

  it.each([
    [`?projectId=${PROJECT.toUpperCase()}`, 2, expect.stringMatching(PLACE)],
    ['?from=2026-02-01&to=2026-02-01T23:59Z', 1, null],
    ['?to=2025-12-31', 0, null],
  ])('filters as lists do, and has a place in the feed without a period: %s', async (query, logs, place) => {
    const { headers, text } = await exported(`${query}&format=ndjson`);
    const head = await exported(`${query}&format=ndjson`, { method: 'HEAD' });
    expect([text.split('\n').length - 1, headers.get('last-event-id')]).toEqual([logs, place]);
    expect([headers, head.headers].map((each) => each.get('x-total-count'))).toEqual([
      String(logs),
      String(logs),
    ]);
    expect(head.text).toBe('');
  });

  it('exports to a bound caller the logs of its projects alone', async () => {
    const bound = (projects: string[]) =>
      app.tokens.create({ name: 'bound', scopes: ['time-logs:read'], projects });
    const { token } = await bound([OTHER]);
    const { headers, text } = await exported('?format=ndjson', { token });
    expect(text).toBe(`${await getData(ids[2]!)}\n`);
    expect(headers.get('last-event-id')).toMatch(PLACE);
    const foreign = await exported(`?projectId=${PROJECT}`, { token });
    expect(outcome(foreign)).toEqual([403, refusal('FORBIDDEN', 'the token does not allow this project')]);
    expect((await exported('', { token: (await bound([])).token })).text).toBe(`${HEADER}\n`);
  });
});

describe('an export that has begun', () => {
  /** More than the buffers of a connection take. */
  const LOGS = 12_000;
  beforeAll(() =>
    app.dataSource.query(
      `insert into time_logs (id, project_id, duration, description, date)
       select ('019c1370-' || lpad(to_hex(n), 4, '0') || '-7000-8000-000000000000')::uuid, $1, 1, repeat('x', 5000), '2020-01-31'
         from generate_series(1, ${LOGS}) n`,
      [OTHER],
    ),
  );
  afterAll(() => app.dataSource.query(`delete from time_logs where date = '2020-01-31'`));
  const backends = async () =>
    app.dataSource.query<{ pid: number }[]>(
      `select pid from pg_stat_activity where datname = current_database() and query like 'fetch %' and state = 'idle in transaction'`,
    );
  /** A client that takes the headers, and then nothing. */
  const begin = async (token = app.token, version = '1.1') => {
    const socket = connect(app.port, '127.0.0.1').on('error', () => undefined);
    socket.write(`GET ${EXPORT} HTTP/${version}\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    return { socket, status: head.toString().slice(9, 12) };
  };
  const untilNoneRuns = () => eventually(async () => expect(await backends()).toEqual([]));
  const tokenOf = async (name: string) =>
    (await app.tokens.create({ name, scopes: ['time-logs:read'] })).token;

  it('is one of two, and the only one of its caller', async () => {
    const tokens = await Promise.all(['a', 'b', 'c'].map(tokenOf));
    const first = await begin(tokens[0]);
    expect((await exported('', { token: tokens[0]! })).status).toBe(503);
    const second = await begin(tokens[1]);
    expect([first.status, second.status, (await exported('', { token: tokens[2]! })).status]).toEqual([
      '200',
      '200',
      503,
    ]);
    for (const { socket } of [first, second]) socket.destroy();
    await untilNoneRuns();
    expect((await exported('?to=2019-12-31', { token: tokens[2]! })).status).toBe(200);
  });

  it('adds one listener for all its pauses: a middleware that compresses removes none', async () => {
    const on = jest.spyOn(ServerResponse.prototype, 'on');
    expect((await exported()).text.length).toBeGreaterThan(LOGS * 5000);
    expect(on.mock.calls.filter(([event]) => event === 'drain')).toHaveLength(1);
    on.mockRestore();
  });

  // A client in Node cannot always tell a reset from an end.
  it.each(['1.1', '1.0'])('is reset if the server ends its connection, over HTTP/%s', async (version) => {
    const { socket, status } = await begin(app.token, version);
    expect(status).toBe('200');
    const [backend] = await backends();
    const reset = jest.spyOn(Socket.prototype, 'resetAndDestroy');
    await app.dataSource.query('select pg_terminate_backend($1)', [backend!.pid]);
    await new Promise((resolve) => socket.once('close', resolve).resume());
    expect(reset).toHaveBeenCalledTimes(1);
    reset.mockRestore();
    await untilNoneRuns();
    expect((await exported('?to=2019-12-31')).status).toBe(200);
  });
});
