import { describe, expect, it } from '@jest/globals';
import { authorized, edgeApp, exchange, expectCommon } from '../../support/edge.js';
import { send } from '../../support/requests.js';

const app = edgeApp();

describe('every answer', () => {
  it.each(['a', 'req-1_2.3~4:5+6/7=8@9', 'x'.repeat(128), '7b1f0e9c-1f0e-4b1f-8e9c-7b1f0e9c1f0e'])(
    'carries the request id of the caller (%s)',
    async (id) => {
      expectCommon((await send(app, '/nowhere', { headers: { 'x-request-id': id } })).headers, id);
      const refused = await send(app, '/health', {
        headers: { 'x-request-id': id, authorization: undefined },
      });
      expectCommon(refused.headers, id);
    },
  );

  it.each([
    ...['', 'two words', 'é', '"quoted"', 'a;b', '<b>', '{}', '%0d%0aX: y', 'x'.repeat(129)],
    'x'.repeat(5_000),
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
