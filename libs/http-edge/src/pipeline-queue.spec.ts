import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { answerNodeErrors } from './node-error-answers.js';
import { PipelineQueue } from './pipeline-queue.js';

/** The most requests of one connection that may be under way. */
const MOST = 17;
const MANY = 3_000;
const get = (path: number | string, ...headers: string[]) =>
  [`GET /${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');
const post = (path: number, body: string) =>
  `${get(path, `Content-Length: ${body.length}`).replace('GET', 'POST')}${body}`;
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

/** Requests for /0, /1 and so on, as one text. */
const gets = (count: number) =>
  numbers(count)
    .map((number) => get(number))
    .join('');

describe('the requests of a connection', () => {
  let server: Server;
  let sockets: Socket[];
  /** Answers a request; replaced by tests that hold it back. */
  let answer: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;
  let served: string[];
  let underWay: { now: number; most: number };

  beforeEach(async () => {
    [served, sockets] = [[], []];
    underWay = { now: 0, most: 0 };
    answer = (request, response) => void response.end(`${request.url}\n`);
    server = createServer();
    const queue = new PipelineQueue((request, response) => {
      underWay.most = Math.max(underWay.most, ++underWay.now);
      served.push(request.url!);
      response.once('close', () => underWay.now--);
      void answer(request, response);
    });
    server.on('request', (request, response) => queue.take(request, response));
    answerNodeErrors(server, queue, { headers: () => ({}) });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  function open(): Socket {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    return socket;
  }

  /** Writes a text and resolves with all that comes until the server closes. */
  function exchange(bytes: string): Promise<string> {
    const socket = open();
    socket.write(bytes);
    return text(socket);
  }

  const pathsIn = (all: string) => [...all.matchAll(/^\/\d+$/gm)].map(([path]) => path);
  const paths = (count: number) => numbers(count).map((number) => `/${number}`);

  it('are served one after the other', async () => {
    const all = await exchange(gets(MOST - 1) + get(MOST - 1, 'Connection: close'));
    expect(pathsIn(all)).toEqual(paths(MOST));
    expect(served).toEqual(paths(MOST));
    expect(underWay.most).toBe(1);
  });

  it('are served on and on where each is sent when one is answered', async () => {
    const socket = open();
    socket.write(gets(MOST));
    let [sent, all] = [MOST, ''];
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      all += chunk.toString();
      for (const end = pathsIn(all).length + MOST - 1; sent < Math.min(end, 5 * MOST); sent++)
        socket.write(get(sent));
      if (pathsIn(all).length === 5 * MOST) break;
    }
    expect(pathsIn(all)).toEqual(paths(5 * MOST));
  });

  it(`are dropped with their connection where more than ${MOST} are under way, and harm no other`, async () => {
    answer = (request, response) => {
      if (request.url === '/other') response.end('\n');
      else setImmediate(() => response.end('\n'));
    };
    await exchange(gets(MANY)).catch(() => undefined);
    await exchange(get('other', 'Connection: close'));
    expect(served).toContain('/other');
    expect(served.length).toBeLessThanOrEqual(MOST + 1);
  });

  it('keep their bodies', async () => {
    answer = async (request, response) => void response.end(await text(request));
    const bodies = numbers(MOST - 1).map((number) => `body ${number} ${'x'.repeat(number * 700)}`);
    const all = await exchange(
      bodies.map((body, number) => post(number, body)).join('') + get(MOST, 'Connection: close'),
    );
    expect([...all.matchAll(/body \d+ x*/g)].map(([body]) => body)).toEqual(bodies);
  });

  it('let other connections have their turn', async () => {
    const turns: string[] = [];
    answer = (request, response) => {
      turns.push('served');
      response.once('finish', () => setImmediate(() => turns.push('others')));
      response.end(`${request.url}\n`);
    };
    await exchange(gets(3) + get(3, 'Connection: close'));
    expect(turns.slice(0, 6)).toEqual(['served', 'others', 'served', 'others', 'served', 'others']);
  });

  it.each([
    ['malformed', 'NONSENSE\r\n\r\n'],
    ['a request whose body is malformed', `${get(10, 'Transfer-Encoding: chunked')}nonsense\r\n`],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('are all answered, and nothing else, where what follows them is %s', async (_what, bytes) => {
    answer = (request, response) => void setImmediate(() => response.end(`${request.url}\n`));
    const all = await exchange(gets(10) + bytes);
    expect(pathsIn(all)).toEqual(paths(10));
    expect(all.match(/HTTP\/1\.1 \d+/g)).toEqual(paths(10).map(() => 'HTTP/1.1 200'));
  });

  it('are dropped with their connection', async () => {
    const [usual, begun, end] = [answer, new EventEmitter(), new EventEmitter()];
    answer = async (request, response) => {
      if (request.url !== '/0') return usual(request, response);
      begun.emit('begun');
      await once(end, 'end');
      response.end();
    };
    const socket = open();
    const isBegun = once(begun, 'begun');
    socket.write(gets(MOST));
    await isBegun;
    socket.resetAndDestroy();
    await once(socket, 'close');
    end.emit('end');
    await exchange(get('other', 'Connection: close'));
    expect(served).toEqual(['/0', '/other']);
  });
});
