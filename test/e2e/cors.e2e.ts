import { describe, expect, it } from '@jest/globals';
import { REFUSED } from '../support/edge.js';
import { type Answer, create, LOG, outcome, send, type Sending, TIME_LOGS } from '../support/requests.js';
import { type TestApp, useTestApp } from '../support/test-app.js';

const ORIGIN = 'https://app.example';
const OTHER = 'http://localhost:5173';
const EXPOSED =
  'Allow,ETag,Idempotency-Replayed,Last-Event-ID,Link,Location,Retry-After,WWW-Authenticate,X-Request-Id,X-Total-Count';
/** The request that a browser sends before a create, without a token. */
const preflight = (origin: string) => ({
  method: 'OPTIONS',
  headers: {
    authorization: undefined,
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  },
});
const ALLOWED =
  'Authorization,Content-Type,Idempotency-Key,If-Match,X-Request-Id,baggage,traceparent,tracestate';
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET,HEAD,PUT,PATCH,POST,DELETE',
  'access-control-allow-headers': ALLOWED,
  'access-control-max-age': '7200',
};

/** Requests that are refused, most of them before a route: a page may read each response. */
const REFUSALS: readonly [number, string, string, Sending['headers']?][] = [
  [401, 'GET', TIME_LOGS, { authorization: undefined }],
  [401, 'POST', TIME_LOGS, { authorization: 'Bearer wrong' }],
  [400, 'GET', `${TIME_LOGS}?page=x`],
  [404, 'GET', '/nowhere'],
  [405, 'PUT', TIME_LOGS],
  [415, 'POST', TIME_LOGS],
];

/** The headers of an answer that are about CORS, and `Vary`, but for the encoding of the document. */
function corsOf(given: Headers): Record<string, string> {
  const headers = new Headers(given);
  const vary = headers.get('vary')?.replace(/(, )?Accept-Encoding$/, '');
  headers.delete('vary');
  if (vary) headers.set('vary', vary);
  return Object.fromEntries(
    [...headers].filter(([name]) => name === 'vary' || name.startsWith('access-control-')),
  );
}

/** The answers of some routes and the refusals to pages of an origin, each with the status that is expected. */
async function ask(app: TestApp, origin: string | undefined): Promise<[number, Answer][]> {
  const answers: [number, Answer][] = [];
  for (const [status, method, path, headers] of REFUSALS)
    answers.push([status, await send(app, path, { method, headers: { origin, ...headers } })]);
  answers.push([200, await send(app, '/openapi.json', { headers: { origin } })]);
  answers.push([201, await create(app, LOG, { origin })]);
  return answers;
}

describe('with CORS_ORIGINS', () => {
  const readable = (origin: string) => ({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED,
    vary: 'Origin',
  });
  const app = useTestApp({ corsOrigins: [ORIGIN, OTHER], corsHeaders: ['sentry-trace', 'X-Tenant'] });

  it.each([ORIGIN, OTHER])('lets pages of %s read every answer, refusals too', async (origin) => {
    for (const [status, answer] of await ask(app, origin)) {
      expect([answer.status, corsOf(answer.headers)]).toEqual([status, readable(origin)]);
    }
  });

  it.each([
    ...[undefined, 'null', '*', `${ORIGIN}, ${OTHER}`, 'https://sub.app.example', 'http://app.example'],
    ...['https://app.example.evil.example', `${ORIGIN}:8443`],
  ])('serves others as ever, without a header that would let a page read it (%s)', async (origin) => {
    const { status, headers } = await send(app, TIME_LOGS, { headers: { origin } });
    expect([status, headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([
      200,
      null,
      'Origin',
    ]);
  });

  it.each([TIME_LOGS, '/livez', '/nowhere', '/%ff'])(
    'answers a preflight without a token, and alike whatever the path (%s)',
    async (path) => {
      const { status, headers, text } = await send(app, path, preflight(ORIGIN));
      expect([status, text]).toEqual([204, '']);
      expect(corsOf(headers)).toEqual({
        ...readable(ORIGIN),
        ...PREFLIGHT_HEADERS,
        'access-control-allow-headers': `${ALLOWED},sentry-trace,X-Tenant`,
      });
      expect(headers.get('x-request-id')).not.toBeNull();
      for (const name of ['content-type', 'content-length', 'access-control-allow-credentials'])
        expect(headers.get(name)).toBeNull();
    },
  );

  it.each([
    ['of an origin that is not allowed', preflight('https://evil.example').headers],
    ['without an origin', { 'access-control-request-method': 'POST' }],
    ['that says no method', { origin: ORIGIN }],
  ])('asks for a token where OPTIONS is no preflight: one %s', async (_what, headers) => {
    const options = (authorization?: string) =>
      send(app, TIME_LOGS, { method: 'OPTIONS', headers: { ...headers, authorization } });
    expect(outcome(await options())).toEqual(REFUSED.unauthorized);
    expect(outcome(await options(`Bearer ${app.token}`))).toEqual(REFUSED.method);
  });
});

describe('with CORS_ORIGINS=*', () => {
  const readable = { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };
  const app = useTestApp({ corsOrigins: ['*'] });

  it.each([ORIGIN, 'null', undefined])('says the same to every origin (%s)', async (origin) => {
    for (const [status, answer] of await ask(app, origin)) {
      expect([answer.status, corsOf(answer.headers)]).toEqual([status, readable]);
    }
  });
});

describe('without CORS_ORIGINS', () => {
  const app = useTestApp();

  it('has no header of CORS, and takes a preflight for any other OPTIONS', async () => {
    for (const [status, answer] of await ask(app, ORIGIN)) {
      expect([answer.status, corsOf(answer.headers)]).toEqual([status, {}]);
    }
    expect(outcome(await send(app, TIME_LOGS, preflight(ORIGIN)))).toEqual(REFUSED.unauthorized);
  });
});
