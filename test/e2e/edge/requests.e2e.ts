import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { authorized, edgeApp, exchange, expectCommon, expectRefusal, REFUSED } from '../../support/edge.js';
import { answersIn, rawRequest, sendRaw } from '../../support/raw-http.js';
import { LOG, refusal, send, TIME_LOGS } from '../../support/requests.js';

const app = edgeApp();

describe('malformed HTTP', () => {
  const authorization = () => `Authorization: Bearer ${app.token}`;
  const health = 'GET /health HTTP/1.1';
  const post = `POST ${TIME_LOGS} HTTP/1.1`;

  it.each([
    ['a line that is no request', 'nonsense\r\n\r\n'],
    ['an unknown method', rawRequest('NONSENSE / HTTP/1.1', 'Host: x')],
    ['a control character in a header', rawRequest(health, 'Host: x', 'Name: a\u0000b')],
    ['a folded header', rawRequest(health, 'Host: x', 'Name: a', ' b')],
    [
      'a length and chunks',
      rawRequest(post, 'Host: x', 'Content-Length: 5', 'Transfer-Encoding: chunked') + '0\r\n\r\n',
    ],
    ['an unknown transfer encoding', rawRequest(post, 'Host: x', 'Transfer-Encoding: gzip')],
  ])('is refused: %s', async (_what, text) => {
    expectRefusal(await exchange(app, text), REFUSED.malformed);
  });

  // The parser of Node before 20.19.2 accepts these.
  (process.versions.llhttp?.startsWith('8.') === true ? it.skip : it).each([
    ['a header without a name', ': x'],
    ['a space before the colon', 'Name : x'],
  ])('is refused: %s', async (_what, header) => {
    expectRefusal(await exchange(app, rawRequest(health, 'Host: x', header)), REFUSED.malformed);
  });

  it.each([
    ['no Host', []],
    ['two Hosts', ['Host: x', 'Host: y']],
  ])('is refused: %s', async (_what, hosts) => {
    const answer = await exchange(app, rawRequest(health, ...hosts, authorization(), 'Connection: close'));
    expectRefusal(answer, REFUSED.hosts);
  });

  it('is refused: CONNECT', async () => {
    const answer = await exchange(app, authorized(app, 'CONNECT x:443'));
    expectRefusal(answer, REFUSED.malformed);
  });
});

describe('limits', () => {
  it.each([
    ['one long header', rawRequest('GET /health HTTP/1.1', 'Host: x', `X: ${'x'.repeat(17_000)}`)],
    ['a long request line', rawRequest(`GET /${'x'.repeat(17_000)} HTTP/1.1`, 'Host: x')],
  ])('refuse headers over 16 KiB: %s', async (_what, text) => {
    expectRefusal(await exchange(app, text), REFUSED.headers);
  });

  it.each(['foo', '100-continue, foo'])('refuse to be expected to %s', async (expectation) => {
    const lines = [`Expect: ${expectation}`, 'Connection: close', 'X-Request-Id: my-id'];
    expectRefusal(
      await exchange(app, authorized(app, 'GET /health', ...lines)),
      REFUSED.expectation,
      'my-id',
    );
  });

  it('of time are 10 seconds for the headers and 15 for the request, and end a request', async () => {
    const server = app.app.getHttpServer() as { headersTimeout: number; requestTimeout: number };
    const { headersTimeout, requestTimeout } = server;
    expect([headersTimeout, requestTimeout]).toEqual([10_000, 15_000]);
    const head = [`POST ${TIME_LOGS}`, 'Content-Type: application/json', 'Content-Length: 50'] as const;
    Object.assign(server, { headersTimeout: 300, requestTimeout: 300 });
    try {
      const [withId, headers] = await Promise.all(
        [
          `${authorized(app, ...head, 'X-Request-Id: my-id')}{`,
          'GET /health HTTP/1.1\r\nHost: x\r\nX: y',
        ].map((text) => exchange(app, text)),
      );
      expectRefusal(withId!, REFUSED.slow, 'my-id');
      expectRefusal(headers!, REFUSED.slow);
    } finally {
      Object.assign(server, { headersTimeout, requestTimeout });
    }
  });
});

describe('paths', () => {
  it.each([
    ...[`${TIME_LOGS}#x?page=2`, '/api/v2/time-logs', `${TIME_LOGS}/7b1f0e9c-1f0e-7b1f-8e9c-7b1f0e9c1f0e/x`],
    ...['/%ff', '/%', `${TIME_LOGS}%00`, `${TIME_LOGS}/x/%ff`, '/..%2f..%2fetc/passwd'],
  ])('that are unknown are not found (%s)', async (path) => {
    const stranger = rawRequest(`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close');
    expectRefusal(await exchange(app, stranger), REFUSED.unauthorized);
    const known = await exchange(app, authorized(app, `GET ${path}`, 'Connection: close'));
    expectRefusal(known, REFUSED.unknown);
    expect(known.headers.has('allow')).toBe(false);
    const post = authorized(app, `POST ${path}`, 'Content-Length: 0', 'Connection: close');
    expectRefusal(await exchange(app, post), REFUSED.unknown);
  });

  it('begin with one that leads a stranger to the page for people', async () => {
    const { status, body } = await send(app, '/', { headers: { authorization: undefined } });
    const message =
      'a valid bearer token is required; the page docs below this address says how to call this service';
    expect([status, body]).toEqual([401, refusal('UNAUTHORIZED', message)]);
    expectRefusal(await send(app, '/'), REFUSED.unknown);
    expectRefusal(await send(app, '/', { method: 'POST' }), REFUSED.unknown);
  });

  // A client may append a path to a base address that ends with a slash.
  it.each(['//health', '///health?', 'http://x//health'])(
    'may begin with more than one slash, or come in absolute form (%s)',
    async (path) => {
      const { status, text } = await exchange(app, authorized(app, `GET ${path}`, 'Connection: close'));
      expect([status, text]).toEqual([200, 'OK']);
    },
  );

  it.each(['*', 'http://', 'http://x', 'http://x/nowhere', 'mailto:x'])(
    'in other forms give nothing away (OPTIONS %s)',
    async (target) => {
      const text = rawRequest(`OPTIONS ${target} HTTP/1.1`, 'Host: x', 'Connection: close');
      const answer = await exchange(app, text);
      expectRefusal(answer, answer.status === 400 ? REFUSED.malformed : REFUSED.unauthorized);
    },
  );
});

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

  it('that a client has closed on its side get the answers', async () => {
    const client = connect({ port: app.port, host: '127.0.0.1', allowHalfOpen: true });
    client.end(
      get(TIME_LOGS, 'one') + post(JSON.stringify(LOG), 'X-Request-Id: two') + get('/livez', 'three'),
    );
    expect(namesIn(await textOf(client))).toEqual(['200 one', '201 two', '200 three']);
  });

  it('carry no body in the refusal of HEAD', async () => {
    const head = await exchange(app, authorized(app, 'HEAD /nowhere', 'Connection: close'));
    const got = await exchange(app, authorized(app, 'GET /nowhere', 'Connection: close'));
    expect([head.status, head.text]).toEqual([404, '']);
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(got.text)));
    expectCommon(head.headers);
  });
});
