import { describe, expect, it } from '@jest/globals';
import { authorized, edgeApp, exchange, expectRefusal, REFUSED } from '../../support/edge.js';
import { rawRequest } from '../../support/raw-http.js';
import { refusal, send, TIME_LOGS } from '../../support/requests.js';

const app = edgeApp();

describe('paths', () => {
  it.each([
    ...['//nowhere', '/nowhere', '/api', '/api/v1', '/api/v2/time-logs', '/time-logs', '/favicon.ico'],
    ...[`${TIME_LOGS}/7b1f0e9c-1f0e-7b1f-8e9c-7b1f0e9c1f0e/x`, '/health/x', '/livez/nowhere'],
    ...[
      '/%ff',
      '/%',
      '/%zz',
      '/%E0%A4%A',
      `${TIME_LOGS}%00`,
      `${TIME_LOGS}/x/%ff`,
      '/health%2f',
      '/livez%20',
    ],
    '/..%2f..%2fetc/passwd',
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
  it.each(['//health', '///health', 'http://x/health', 'http://x//health'])(
    'may begin with more than one slash, or come in absolute form (%s)',
    async (path) => {
      const { status, text } = await exchange(app, authorized(app, `GET ${path}`, 'Connection: close'));
      expect([status, text]).toEqual([200, 'OK']);
    },
  );

  it('may end with an empty query', async () => {
    expect((await send(app, '/health?')).status).toBe(200);
  });

  it.each(['*', 'http://', 'http:', 'http:///', 'http://x', 'http://x/nowhere', 'mailto:x'])(
    'in other forms give nothing away (OPTIONS %s)',
    async (target) => {
      const text = rawRequest(`OPTIONS ${target} HTTP/1.1`, 'Host: x', 'Connection: close');
      const answer = await exchange(app, text);
      expectRefusal(answer, answer.status === 400 ? REFUSED.malformed : REFUSED.unauthorized);
    },
  );
});
