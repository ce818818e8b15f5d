import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { authorized, edgeApp, exchange, expectRefusal, REFUSED } from '../../support/edge.js';
import { rawRequest } from '../../support/raw-http.js';
import { send, TIME_LOGS } from '../../support/requests.js';

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

  it('let headers of 15 KiB pass', async () => {
    const { status } = await send(app, '/health', { headers: { 'x-long': 'x'.repeat(15_000) } });
    expect(status).toBe(200);
  });

  it.each(['foo', '200-ok', '100-continue, foo'])('refuse to be expected to %s', async (expectation) => {
    const lines = [`Expect: ${expectation}`, 'Connection: close'];
    expectRefusal(await exchange(app, authorized(app, 'GET /health', ...lines)), REFUSED.expectation);
    const withId = await exchange(app, authorized(app, 'GET /health', 'X-Request-Id: my-id', ...lines));
    expectRefusal(withId, REFUSED.expectation, 'my-id');
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
      expectRefusal(await exchange(app, text), REFUSED.slow);
    });

    it('end a request whose body does not come', async () => {
      Object.assign(server(), { headersTimeout: 300, requestTimeout: 300 });
      const head = [`POST ${TIME_LOGS}`, 'Content-Type: application/json', 'Content-Length: 50'] as const;
      expectRefusal(await exchange(app, `${authorized(app, ...head)}{"duration":`), REFUSED.slow);
      const withId = await exchange(app, `${authorized(app, ...head, 'X-Request-Id: my-id')}{`);
      expectRefusal(withId, REFUSED.slow, 'my-id');
    });
  });
});
