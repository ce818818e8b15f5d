import { describe, expect, it } from '@jest/globals';
import { authorized, edgeApp, exchange, expectCommon, JSON_TYPE } from '../../support/edge.js';
import { LOG, send, TIME_LOGS } from '../../support/requests.js';

const app = edgeApp();

describe('every answer', () => {
  it.each([
    ['GET', '/health', 200, undefined],
    ['GET', '/livez', 200, undefined],
    ['GET', '/readyz', 200, undefined],
    ['GET', TIME_LOGS, 200, undefined],
    ['POST', TIME_LOGS, 201, JSON.stringify(LOG)],
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
      const text = authorized(app, 'GET /health', `X-Request-Id: ${id}`, 'Connection: close');
      const { status, headers } = await exchange(app, text);
      expect(status).toBe(200);
      expectCommon(headers);
    },
  );

  it('has an id that no other answer has', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(app, '/livez')));
    expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(20);
  });
});
