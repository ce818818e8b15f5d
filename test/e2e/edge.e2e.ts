import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { missingDatabase } from '../support/outage.js';
import { answersIn, rawRequest as request, sendRaw } from '../support/raw-http.js';
import {
  type Answer,
  create,
  list,
  LOG,
  outcome,
  refusal,
  send,
  sendBytes,
  TIME_LOGS,
} from '../support/requests.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const JSON_TYPE = 'application/json; charset=utf-8';
const LOG_TEXT = JSON.stringify(LOG);

const malformed = refusal('VALIDATION_ERROR', 'malformed request');
const oneHost = refusal('VALIDATION_ERROR', 'exactly one Host header is required');
const notFound = refusal('NOT_FOUND', 'no such path');
const notAllowed = refusal('METHOD_NOT_ALLOWED', 'method not allowed on this path; see the Allow header');
const unauthorized = refusal('UNAUTHORIZED', 'a valid bearer token is required');
const unavailable = refusal('SERVICE_UNAVAILABLE', 'the service is unavailable at the moment; retry later');
const headersTooLarge = refusal('HEADERS_TOO_LARGE', 'the request line and headers are too large');
const unexpected = refusal('EXPECTATION_FAILED', 'the only supported expectation is 100-continue');
const timedOut = refusal('REQUEST_TIMEOUT', 'the request was not received in time');

let app: TestApp;
let authorization: string;

beforeAll(async () => {
  app = await startTestApp();
  authorization = `Authorization: Bearer ${app.token}`;
});
afterAll(() => app.close());
// Whatever was sent, the next request is served.
afterEach(async () => {
  const { status, text } = await send(app, '/health');
  expect([status, text]).toEqual([200, 'OK']);
});

/** Writes a text as it is; its answer. */
async function exchange(text: string): Promise<Answer> {
  const answer = await sendBytes(app, text);
  if (answer === undefined) throw new Error('the connection was closed without an answer');
  return answer;
}

/** Holds the headers that every answer carries, and those that none may. */
function expectCommon(given: Headers, requestId: unknown = expect.stringMatching(UUID)): void {
  const headers = Object.fromEntries(given);
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
    date: expect.stringMatching(/ GMT$/),
  });
  for (const name of ['x-powered-by', 'etag', 'server', 'set-cookie'])
    expect(headers).not.toHaveProperty(name);
}

/** Holds a refused request to its status, its whole body, and the headers of every error. */
function expectRefusal(answer: Answer, expected: [number, object], requestId?: string): void {
  expect(outcome(answer)).toEqual(expected);
  expect(answer.headers.get('content-type')).toBe(JSON_TYPE);
  expectCommon(answer.headers, requestId);
}

describe('every answer', () => {
  it.each([
    ['GET', '/health', 200, undefined],
    ['GET', '/livez', 200, undefined],
    ['GET', '/readyz', 200, undefined],
    ['GET', TIME_LOGS, 200, undefined],
    ['POST', TIME_LOGS, 201, LOG_TEXT],
    ['POST', TIME_LOGS, 400, '{'],
    ['POST', TIME_LOGS, 413, ' '.repeat(70_000)],
    ['GET', `${TIME_LOGS}?x=1`, 400, undefined],
    ['GET', '/nowhere', 404, undefined],
    ['PUT', TIME_LOGS, 405, undefined],
    ['HEAD', '/health', 200, undefined],
    ['HEAD', '/nowhere', 404, undefined],
  ])('carries the common headers (%s %s, %i)', async (method, path, status, body) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await send(app, path, { method, headers, body });
    expect(answer.status).toBe(status);
    expectCommon(answer.headers);
    if (method !== 'HEAD')
      expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(answer.text)));
    if (status >= 400) expect(answer.headers.get('content-type')).toBe(JSON_TYPE);
  });

  it.each(['a', 'req-1_2.3~4:5+6/7=8@9', 'x'.repeat(128), '7b1f0e9c-1f0e-4b1f-8e9c-7b1f0e9c1f0e'])(
    'carries the request id of the caller (%s)',
    async (id) => {
      const answers = ['/health', '/livez', '/nowhere', TIME_LOGS].map((path) =>
        send(app, path, { headers: { 'x-request-id': id } }),
      );
      for (const { headers } of await Promise.all(answers)) expectCommon(headers, id);
      const refused = await send(app, '/health', {
        headers: { 'x-request-id': id, authorization: undefined },
      });
      expectCommon(refused.headers, id);
    },
  );

  it.each([
    '',
    'two words',
    'x'.repeat(129),
    'x'.repeat(5_000),
    'é',
    '"quoted"',
    'a;b',
    '<b>',
    '{}',
    '%0d%0aX: y',
  ])('carries an id of its own where the one of the caller is not well-formed (%#)', async (id) => {
    const { headers } = await send(app, '/health', { headers: { 'x-request-id': id } });
    expectCommon(headers);
  });

  it.each(['a\tb', '\u0080\u009b31m', 'a\r\nX-Request-Id: b'])(
    'carries an id of its own for %j',
    async (id) => {
      const lines = [
        'GET /health HTTP/1.1',
        'Host: x',
        authorization,
        `X-Request-Id: ${id}`,
        'Connection: close',
      ];
      const { status, headers } = await exchange(request(...lines));
      expect(status).toBe(200);
      expectCommon(headers);
    },
  );

  it('has an id that no other answer has', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(app, '/livez')));
    expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(20);
  });
});

describe('paths', () => {
  it.each([
    '/',
    '/nowhere',
    '/api',
    '/api/v1',
    '/api/v2/time-logs',
    '/time-logs',
    `${TIME_LOGS}/7b1f0e9c-1f0e-7b1f-8e9c-7b1f0e9c1f0e/x`,
    `/${TIME_LOGS}`,
    '//',
    '/health/x',
    '/%ff',
    '/%',
    '/%zz',
    '/%E0%A4%A',
    `${TIME_LOGS}%00`,
    `${TIME_LOGS}/x/%ff`,
    '/health%2f',
    '/livez%20',
    '/..%2f..%2fetc/passwd',
    '/favicon.ico',
  ])('that are unknown are not found (%s)', async (path) => {
    const lines = ['Host: x', 'Connection: close'];
    expectRefusal(await exchange(request(`GET ${path} HTTP/1.1`, ...lines)), [401, unauthorized]);
    const known = await exchange(request(`GET ${path} HTTP/1.1`, authorization, ...lines));
    expectRefusal(known, [404, notFound]);
    expect(known.headers.has('allow')).toBe(false);
    const posted = await exchange(
      request(`POST ${path} HTTP/1.1`, authorization, 'Content-Length: 0', ...lines),
    );
    expectRefusal(posted, [404, notFound]);
  });

  it.each(['/Health', '/HEALTH/', '/health/', '/health?', '/Api/V1/Time-Logs', `${TIME_LOGS}/`])(
    'take any case and a trailing slash (%s)',
    async (path) => {
      expect((await send(app, path)).status).toBe(200);
      expect((await send(app, path, { headers: { authorization: undefined } })).status).toBe(401);
    },
  );

  it.each([
    [TIME_LOGS, 'GET, HEAD, POST'],
    [`${TIME_LOGS.toUpperCase()}/`, 'GET, HEAD, POST'],
    ['/health', 'GET, HEAD'],
    ['/livez', 'GET, HEAD'],
    ['/readyz/', 'GET, HEAD'],
  ])('that are known allow their own methods alone (%s)', async (path, allow) => {
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY', 'TRACE', 'M-SEARCH']) {
      const answer = await exchange(
        request(
          `${method} ${path} HTTP/1.1`,
          'Host: x',
          authorization,
          'Content-Length: 0',
          'Connection: close',
        ),
      );
      expectRefusal(answer, [405, notAllowed]);
      expect(answer.headers.get('allow')).toBe(allow);
    }
  });

  it.each(['*', 'http://', 'http:', 'http:///', 'http://x', 'http://x/nowhere', 'mailto:x'])(
    'in other forms give nothing away (OPTIONS %s)',
    async (target) => {
      const answer = await exchange(request(`OPTIONS ${target} HTTP/1.1`, 'Host: x', 'Connection: close'));
      const isMalformed = answer.status === 400;
      expectRefusal(answer, isMalformed ? [400, malformed] : [401, unauthorized]);
    },
  );

  it('may come in absolute form', async () => {
    const lines = ['Host: x', authorization, 'Connection: close'];
    const { status, text } = await exchange(request('GET http://x/health HTTP/1.1', ...lines));
    expect([status, text]).toEqual([200, 'OK']);
  });
});

describe('malformed HTTP', () => {
  const health = 'GET /health HTTP/1.1';

  it.each([
    ['a line that is no request', 'nonsense\r\n\r\n'],
    ['a TLS hello', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    ['an unknown method', request('NONSENSE / HTTP/1.1', 'Host: x')],
    ['a method in lower case', request('get /health HTTP/1.1', 'Host: x')],
    ['an unknown protocol', request('GET /health FTP/1.1', 'Host: x')],
    ['no path', request('GET  HTTP/1.1', 'Host: x')],
    ['a space in the path', request('GET /he alth HTTP/1.1', 'Host: x')],
    ['a header without a colon', request(health, 'Host: x', 'Nonsense')],
    ['a header without a name', request(health, 'Host: x', ': x')],
    ['a space before the colon', request(health, 'Host: x', 'Name : x')],
    ['a control character in a header', request(health, 'Host: x', 'Name: a\u0000b')],
    ['a folded header', request(health, 'Host: x', 'Name: a', ' b')],
    [
      'two different lengths',
      request(`POST ${TIME_LOGS} HTTP/1.1`, 'Host: x', 'Content-Length: 1', 'Content-Length: 2'),
    ],
    ['a length that is no number', request(`POST ${TIME_LOGS} HTTP/1.1`, 'Host: x', 'Content-Length: x')],
    ['a negative length', request(`POST ${TIME_LOGS} HTTP/1.1`, 'Host: x', 'Content-Length: -1')],
    [
      'a length and chunks',
      request(`POST ${TIME_LOGS} HTTP/1.1`, 'Host: x', 'Content-Length: 5', 'Transfer-Encoding: chunked') +
        '0\r\n\r\n',
    ],
    [
      'an unknown transfer encoding',
      request(`POST ${TIME_LOGS} HTTP/1.1`, 'Host: x', 'Transfer-Encoding: gzip'),
    ],
  ])('is refused: %s', async (_what, text) => {
    expectRefusal(await exchange(text), [400, malformed]);
  });

  it('is refused: a chunk that is none', async () => {
    const lines = ['Host: x', authorization, 'Content-Type: application/json', 'Transfer-Encoding: chunked'];
    expectRefusal(await exchange(request(`POST ${TIME_LOGS} HTTP/1.1`, ...lines) + 'nonsense\r\n'), [
      400,
      malformed,
    ]);
  });

  it.each([
    ['no Host', []],
    ['two Hosts', ['Host: x', 'Host: y']],
    ['the same Host twice', ['Host: x', 'host: x']],
  ])('is refused: %s', async (_what, hosts) => {
    const answer = await exchange(request(health, ...hosts, authorization, 'Connection: close'));
    expectRefusal(answer, [400, oneHost]);
  });

  it('is not a request of HTTP/1.0 without Host', async () => {
    const { status, text } = await exchange(request('GET /health HTTP/1.0', authorization));
    expect([status, text]).toEqual([200, 'OK']);
  });

  it.each(['x:443', 'localhost:22', '/health'])('is refused: CONNECT %s', async (target) => {
    const answer = await exchange(request(`CONNECT ${target} HTTP/1.1`, 'Host: x', authorization));
    expectRefusal(answer, [400, malformed]);
  });
});

describe('limits of the edge', () => {
  it.each([
    ['one long header', request('GET /health HTTP/1.1', 'Host: x', `X: ${'x'.repeat(17_000)}`)],
    [
      'many headers',
      request(
        'GET /health HTTP/1.1',
        'Host: x',
        ...Array.from({ length: 3_000 }, (_, index) => `x-header-${index}: 1`),
      ),
    ],
    ['a long request line', request(`GET /${'x'.repeat(17_000)} HTTP/1.1`, 'Host: x')],
  ])('refuse headers over 16 KiB: %s', async (_what, text) => {
    expectRefusal(await exchange(text), [431, headersTooLarge]);
  });

  it('let headers of 15 KiB pass', async () => {
    const { status } = await send(app, '/health', { headers: { 'x-long': 'x'.repeat(15_000) } });
    expect(status).toBe(200);
  });

  it.each(['foo', '200-ok', '100-continue, foo'])('refuse to be expected to %s', async (expectation) => {
    const lines = ['Host: x', authorization, `Expect: ${expectation}`, 'Connection: close'];
    expectRefusal(await exchange(request('GET /health HTTP/1.1', ...lines)), [417, unexpected]);
    const withId = await exchange(request('GET /health HTTP/1.1', 'X-Request-Id: my-id', ...lines));
    expectRefusal(withId, [417, unexpected], 'my-id');
  });

  describe('of time', () => {
    const server = () => app.app.getHttpServer() as { headersTimeout: number; requestTimeout: number };
    let before: { headersTimeout: number; requestTimeout: number };

    beforeAll(() => {
      const { headersTimeout, requestTimeout } = server();
      before = { headersTimeout, requestTimeout };
    });
    afterAll(() => void Object.assign(server(), before));

    it('are 10 seconds for the headers and 15 for the request', () => {
      expect(before).toEqual({ headersTimeout: 10_000, requestTimeout: 15_000 });
    });

    it.each([
      ['nothing but a request line', 'GET /health HTTP/1.1\r\n'],
      ['headers that do not end', 'GET /health HTTP/1.1\r\nHost: x\r\nX: y'],
    ])('end a request of %s', async (_what, text) => {
      Object.assign(server(), { headersTimeout: 300, requestTimeout: 300 });
      expectRefusal(await exchange(text), [408, timedOut]);
    });

    it('end a request whose body does not come', async () => {
      Object.assign(server(), { headersTimeout: 300, requestTimeout: 300 });
      const lines = ['Host: x', authorization, 'Content-Type: application/json', 'Content-Length: 50'];
      const head = [`POST ${TIME_LOGS} HTTP/1.1`, ...lines];
      expectRefusal(await exchange(request(...head) + '{"duration":'), [408, timedOut]);
      const withId = await exchange(request(...head, 'X-Request-Id: my-id') + '{');
      expectRefusal(withId, [408, timedOut], 'my-id');
    });
  });
});

describe('connections', () => {
  const get = (path: string, id: string, ...more: string[]) =>
    request(`GET ${path} HTTP/1.1`, 'Host: x', authorization, `X-Request-Id: ${id}`, ...more);
  /** Statuses and request ids of the answers, in their order. */
  const namesIn = (received: string) =>
    answersIn(received).map(({ status, headers }) => `${status} ${headers.get('x-request-id')}`);

  it('answer pipelined requests in their order', async () => {
    const post = request(
      `POST ${TIME_LOGS} HTTP/1.1`,
      'Host: x',
      authorization,
      'X-Request-Id: two',
      'Content-Type: application/json',
      `Content-Length: ${LOG_TEXT.length}`,
    );
    const text =
      get(TIME_LOGS, 'one') +
      post +
      LOG_TEXT +
      get('/nowhere', 'three') +
      get('/livez', 'four', 'Connection: close');
    expect(namesIn(await sendRaw(app.port, text))).toEqual(['200 one', '201 two', '404 three', '200 four']);
  });

  it('serve on after a request that was refused by a handler', async () => {
    const refused = request(
      `POST ${TIME_LOGS} HTTP/1.1`,
      'Host: x',
      'X-Request-Id: one',
      'Content-Type: text/plain',
      'Content-Length: 5',
    );
    const text = `${refused}hello${get('/health', 'two', 'Connection: close')}`;
    expect(namesIn(await sendRaw(app.port, text))).toEqual(['401 one', '200 two']);
  });

  it('never take the refusal of a later request for the answer to an earlier one', async () => {
    const description = 'followed by nonsense';
    const body = JSON.stringify({ ...LOG, description });
    const post = request(
      `POST ${TIME_LOGS} HTTP/1.1`,
      'Host: x',
      authorization,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    );
    const [first] = answersIn(await sendRaw(app.port, `${post}${body}NONSENSE\r\n\r\n`));
    const rows = await app.dataSource.query<unknown[]>('select 1 from time_logs where description = $1', [
      description,
    ]);
    expect([first?.status, rows.length]).toEqual([201, 1]);
  });

  it.each(['websocket', 'h2c', 'TLS/1.0'])('are not upgraded to %s', async (protocol) => {
    const upgrade = [`Upgrade: ${protocol}`, 'Connection: Upgrade'];
    const socket = connect(app.port, '127.0.0.1');
    let text = '';
    for (const one of [get('/health', 'one', ...upgrade), get('/health', 'two')]) {
      socket.write(one);
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      text += chunk.toString();
    }
    socket.destroy();
    expect(namesIn(text)).toEqual(['200 one', '200 two']);
  });

  it.each([
    ['/nowhere', 404],
    [`${TIME_LOGS}?x=1`, 400],
  ])('carry no body in the answer to HEAD %s', async (path, status) => {
    const lines = ['Host: x', authorization, 'Connection: close'];
    const head = await exchange(request(`HEAD ${path} HTTP/1.1`, ...lines));
    const got = await exchange(request(`GET ${path} HTTP/1.1`, ...lines));
    expect([head.status, head.text]).toEqual([status, '']);
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(got.text)));
  });
});

describe('faults of the service', () => {
  it('are answered with a fixed text', async () => {
    await app.dataSource.query('alter table time_logs rename to elsewhere');
    try {
      for (const answer of [await create(app), await list(app)]) {
        expect(outcome(answer)).toEqual([500, refusal('INTERNAL_ERROR', 'internal error')]);
        expectCommon(answer.headers);
      }
    } finally {
      await app.dataSource.query('alter table elsewhere rename to time_logs');
    }
    expect([(await create(app)).status, (await list(app)).status]).toEqual([201, 200]);
  });

  it('that pass are answered with 503 and when to try again', async () => {
    await missingDatabase(app, async () => {
      for (const answer of [
        await create(app),
        await list(app),
        await send(app, '/health'),
        await send(app, '/readyz'),
      ]) {
        expect(outcome(answer)).toEqual([503, unavailable]);
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        expect(answer.headers.get('content-type')).toBe(JSON_TYPE);
        expectCommon(answer.headers);
      }
    });
    expect([(await create(app)).status, (await list(app)).status]).toEqual([201, 200]);
  });
});
