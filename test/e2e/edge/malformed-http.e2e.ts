import { describe, expect, it } from '@jest/globals';
import { authorized, edgeApp, exchange, expectRefusal, REFUSED } from '../../support/edge.js';
import { rawRequest } from '../../support/raw-http.js';
import { TIME_LOGS } from '../../support/requests.js';

const app = edgeApp();

describe('malformed HTTP', () => {
  const authorization = () => `Authorization: Bearer ${app.token}`;
  const health = 'GET /health HTTP/1.1';
  const post = `POST ${TIME_LOGS} HTTP/1.1`;

  it.each([
    ['a line that is no request', 'nonsense\r\n\r\n'],
    ['a TLS hello', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    ['an unknown method', rawRequest('NONSENSE / HTTP/1.1', 'Host: x')],
    ['a method in lower case', rawRequest('get /health HTTP/1.1', 'Host: x')],
    ['an unknown protocol', rawRequest('GET /health FTP/1.1', 'Host: x')],
    ['no path', rawRequest('GET  HTTP/1.1', 'Host: x')],
    ['a space in the path', rawRequest('GET /he alth HTTP/1.1', 'Host: x')],
    ['a header without a colon', rawRequest(health, 'Host: x', 'Nonsense')],
    ['a header without a name', rawRequest(health, 'Host: x', ': x')],
    ['a space before the colon', rawRequest(health, 'Host: x', 'Name : x')],
    ['a control character in a header', rawRequest(health, 'Host: x', 'Name: a\u0000b')],
    ['a folded header', rawRequest(health, 'Host: x', 'Name: a', ' b')],
    ['two different lengths', rawRequest(post, 'Host: x', 'Content-Length: 1', 'Content-Length: 2')],
    ['a length that is no number', rawRequest(post, 'Host: x', 'Content-Length: x')],
    ['a negative length', rawRequest(post, 'Host: x', 'Content-Length: -1')],
    [
      'a length and chunks',
      rawRequest(post, 'Host: x', 'Content-Length: 5', 'Transfer-Encoding: chunked') + '0\r\n\r\n',
    ],
    ['an unknown transfer encoding', rawRequest(post, 'Host: x', 'Transfer-Encoding: gzip')],
  ])('is refused: %s', async (_what, text) => {
    expectRefusal(await exchange(app, text), REFUSED.malformed);
  });

  it('is refused: a chunk that is none', async () => {
    const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
    const text = `${authorized(app, `POST ${TIME_LOGS}`, ...headers)}nonsense\r\n`;
    expectRefusal(await exchange(app, text), REFUSED.malformed);
  });

  it.each([
    ['no Host', []],
    ['two Hosts', ['Host: x', 'Host: y']],
    ['the same Host twice', ['Host: x', 'host: x']],
  ])('is refused: %s', async (_what, hosts) => {
    const answer = await exchange(app, rawRequest(health, ...hosts, authorization(), 'Connection: close'));
    expectRefusal(answer, REFUSED.hosts);
  });

  it('is not a request of HTTP/1.0 without Host', async () => {
    const { status, text } = await exchange(app, rawRequest('GET /health HTTP/1.0', authorization()));
    expect([status, text]).toEqual([200, 'OK']);
  });

  it.each(['x:443', 'localhost:22', '/health'])('is refused: CONNECT %s', async (target) => {
    const answer = await exchange(app, authorized(app, `CONNECT ${target}`));
    expectRefusal(answer, REFUSED.malformed);
  });
});
