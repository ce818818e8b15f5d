import { describe, expect, it } from '@jest/globals';
import { authorized, edgeApp, exchange, expectCommon, REFUSED } from '../../support/edge.js';
import { answersIn, sendRaw } from '../../support/raw-http.js';
import { create, list, LOG, outcome, send, TIME_LOGS } from '../../support/requests.js';

const app = edgeApp();

describe('every answer', () => {
  it.each(['a', 'req-1_2.3~4:5+6/7=8@9', 'x'.repeat(128)])(
    'carries the request id of the caller (%s)',
    async (id) => {
      expectCommon((await send(app, '/nowhere', { headers: { 'x-request-id': id } })).headers, id);
    },
  );

  it.each([...['', 'two words', 'é', '"quoted"', '<b>', '%0d%0aX: y', 'x'.repeat(129)]])(
    'carries an id of its own where the one of the caller is not well-formed (%#)',
    async (id) => {
      const { headers } = await send(app, '/health', { headers: { 'x-request-id': id } });
      expectCommon(headers);
    },
  );

  it.each(['a\tb', '\u0080\u009b31m', 'a\r\nX-Request-Id: b'])(
    'carries an id of its own for %j',
    async (id) => {
      const text = authorized(app, 'GET /health', `X-Request-Id: ${id}`, 'Connection: close');
      const { status, headers } = await exchange(app, text);
      expect(status).toBe(200);
      expectCommon(headers);
    },
  );
});

describe('connections', () => {
  const get = (path: string, id: string, ...more: string[]) =>
    authorized(app, `GET ${path}`, `X-Request-Id: ${id}`, ...more);
  const post = (body: string, ...more: string[]) => {
    const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    return authorized(app, `POST ${TIME_LOGS}`, ...headers, ...more) + body;
  };
  /** Statuses and request ids of the answers, in their order. */
  const namesIn = (received: string) =>
    answersIn(received).map(({ status, headers }) => `${status} ${headers.get('x-request-id')}`);

  it('answer pipelined requests in their order', async () => {
    const text =
      get(TIME_LOGS, 'one') +
      post(JSON.stringify(LOG), 'X-Request-Id: two') +
      get('/nowhere', 'three') +
      get('/livez', 'four', 'Connection: close');
    expect(namesIn(await sendRaw(app.port, text))).toEqual(['200 one', '201 two', '404 three', '200 four']);
  });

  it('carry no body in the refusal of HEAD', async () => {
    const head = await exchange(app, authorized(app, 'HEAD /nowhere', 'Connection: close'));
    const got = await exchange(app, authorized(app, 'GET /nowhere', 'Connection: close'));
    expect([head.status, head.text]).toEqual([404, '']);
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(got.text)));
    expectCommon(head.headers);
  });
});

describe('faults of the service', () => {
  it('are answered with a fixed text', async () => {
    expect((await create(app)).status).toBe(201);
    await app.dataSource.query('alter table time_logs rename to elsewhere');
    try {
      for (const answer of [await create(app), await list(app)]) {
        expect(outcome(answer)).toEqual(REFUSED.internal);
        expectCommon(answer.headers);
      }
    } finally {
      await app.dataSource.query('alter table elsewhere rename to time_logs');
    }
    expect([(await create(app)).status, (await list(app)).status]).toEqual([201, 200]);
  });
});
