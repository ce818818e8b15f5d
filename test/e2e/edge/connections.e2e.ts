import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { authorized, edgeApp, exchange, expectCommon } from '../../support/edge.js';
import { answersIn, rawRequest, sendRaw } from '../../support/raw-http.js';
import { LOG, TIME_LOGS } from '../../support/requests.js';

const app = edgeApp();

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

  it('serve on after a request that was refused by a handler', async () => {
    const headers = ['Host: x', 'X-Request-Id: one', 'Content-Type: text/plain', 'Content-Length: 5'];
    const refused = rawRequest(`POST ${TIME_LOGS} HTTP/1.1`, ...headers);
    const text = `${refused}hello${get('/health', 'two', 'Connection: close')}`;
    expect(namesIn(await sendRaw(app.port, text))).toEqual(['401 one', '200 two']);
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
    const head = await exchange(app, authorized(app, `HEAD ${path}`, 'Connection: close'));
    const got = await exchange(app, authorized(app, `GET ${path}`, 'Connection: close'));
    expect([head.status, head.text]).toEqual([status, '']);
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(got.text)));
    expectCommon(head.headers);
  });
});
