import { describe, expect, it } from '@jest/globals';
import { authorized, edgeApp, exchange, expectRefusal, REFUSED } from '../../support/edge.js';
import { rawRequest } from '../../support/raw-http.js';
import { TIME_LOGS } from '../../support/requests.js';

const app = edgeApp();

describe('limits', () => {
  it.each([
    ['one long header', rawRequest('GET /health HTTP/1.1', 'Host: x', `X: ${'x'.repeat(17_000)}`)],
    [
      'many headers',
      rawRequest(
        'GET /health HTTP/1.1',
        'Host: x',
        ...Array.from({ length: 3_000 }, (_, index) => `x-header-${index}: 1`),
      ),
    ],
    ['a long request line', rawRequest(`GET /${'x'.repeat(17_000)} HTTP/1.1`, 'Host: x')],
  ])('refuse headers over 16 KiB: %s', async (_what, text) => {
    expectRefusal(await exchange(app, text), REFUSED.headers);
  });

  it.each(['foo', '200-ok', '100-continue, foo'])('refuse to be expected to %s', async (expectation) => {
    const lines = [`Expect: ${expectation}`, 'Connection: close'];
    expectRefusal(await exchange(app, authorized(app, 'GET /health', ...lines)), REFUSED.expectation);
    const withId = await exchange(app, authorized(app, 'GET /health', 'X-Request-Id: my-id', ...lines));
    expectRefusal(withId, REFUSED.expectation, 'my-id');
  });

  it('of time are 10 seconds for the headers and 15 for the request, and end a request', async () => {
    const server = app.app.getHttpServer() as { headersTimeout: number; requestTimeout: number };
    const { headersTimeout, requestTimeout } = server;
    expect([headersTimeout, requestTimeout]).toEqual([10_000, 15_000]);
    const head = [`POST ${TIME_LOGS}`, 'Content-Type: application/json', 'Content-Length: 50'] as const;
    Object.assign(server, { headersTimeout: 300, requestTimeout: 300 });
    try {
      const [withId, ...others] = await Promise.all(
        [
          `${authorized(app, ...head, 'X-Request-Id: my-id')}{`,
          `${authorized(app, ...head)}{"duration":`,
          'GET /health HTTP/1.1\r\n',
          'GET /health HTTP/1.1\r\nHost: x\r\nX: y',
        ].map((text) => exchange(app, text)),
      );
      expectRefusal(withId!, REFUSED.slow, 'my-id');
      for (const answer of others) expectRefusal(answer, REFUSED.slow);
    } finally {
      Object.assign(server, { headersTimeout, requestTimeout });
    }
  });
});
