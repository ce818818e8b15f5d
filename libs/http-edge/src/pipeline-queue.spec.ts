import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { answerNodeErrors } from '../../errors/src/index.js';
import { PipelineQueue } from './pipeline-queue.js';

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
  let turns: PipelineQueue;
  let sockets: Socket[];
  /** Answers a request; replaced by tests that hold it back. */
  let answer: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;
  let received: number;
  let served: string[];
  let most: { underWay: number; ahead: number };

  beforeEach(async () => {
    [received, served, sockets] = [0, [], []];
    most = { underWay: 0, ahead: 0 };
    let underWay = 0;
    answer = (request, response) => void response.end(`${request.url}\n`);
    server = createServer();
    turns = new PipelineQueue(server, (request, response) => {
      most.underWay = Math.max(most.underWay, ++underWay);
      served.push(request.url!);
      response.once('close', () => underWay--);
      void answer(request, response);
    });
    server.on('request', (request, response) => {
      most.ahead = Math.max(most.ahead, ++received - served.length);
      turns.take(request, response);
    });
    answerNodeErrors(server, {
      headers: () => ({}),
      isHandled: (error, socket) => turns.takeError(error, socket),
      endAfterWaiting: (socket) => turns.endAfterWaiting(socket),
    });
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

  /** Looks each time that the event loop comes round. */
  async function until(holds: () => boolean): Promise<void> {
    const end = performance.now() + 60_000;
    while (!holds()) {
      if (performance.now() > end) throw new Error(`not within a minute: ${String(holds)}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  const pathsIn = (all: string) => [...all.matchAll(/^\/\d+$/gm)].map(([path]) => path);
  const paths = (count: number) => numbers(count).map((number) => `/${number}`);

  it(`are served one after the other, all ${MANY} that were sent at once, and are not read much earlier`, async () => {
    const last = get(MANY, 'Connection: close');
    const all = await exchange(gets(MANY) + last);
    expect(pathsIn(all)).toEqual(paths(MANY + 1));
    expect(served).toEqual(paths(MANY + 1));
    expect(most.underWay).toBe(1);
    expect(most.ahead).toBeLessThanOrEqual(18);
  });

  it('keep their bodies', async () => {
    answer = async (request, response) => void response.end(await text(request));
    const bodies = numbers(300).map((number) => `body ${number} ${'x'.repeat(number * 7)}`);
    const all = await exchange(
      bodies.map((body, number) => post(number, body)).join('') + get(300, 'Connection: close'),
    );
    expect([...all.matchAll(/body \d+ x*/g)].map(([body]) => body)).toEqual(bodies);
  });

  it('let those of other connections have their turn', async () => {
    answer = (_request, response) => void setImmediate(() => response.end('\n'));
    open().write(gets(MANY));
    await until(() => served.length > 0);
    await exchange(get('other', 'Connection: close'));
    expect(served.indexOf('/other')).toBeLessThan(MANY / 2);
  });

  it.each([
    ['malformed', 'NONSENSE\r\n\r\n'],
    ['a request whose body is malformed', `${get(40, 'Transfer-Encoding: chunked')}nonsense\r\n`],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('are all answered, and nothing else, where what follows them is %s', async (_what, bytes) => {
    answer = (request, response) => void setImmediate(() => response.end(`${request.url}\n`));
    const all = await exchange(gets(40) + bytes);
    expect(pathsIn(all)).toEqual(paths(40));
    expect(all.match(/HTTP\/1\.1 \d+/g)).toEqual(paths(40).map(() => 'HTTP/1.1 200'));
  });

  it('are not late while those before them are served', async () => {
    server.headersTimeout = server.requestTimeout = 100;
    Object.assign(server, { connectionsCheckingInterval: 20 });
    server.close();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const half = get(40, 'Connection: close');
    const socket = open();
    answer = async (request, response) => {
      if (request.url === '/0') {
        await delay(300);
        socket.write(half.slice(10));
      }
      response.end(`${request.url}\n`);
    };
    socket.write(gets(40) + half.slice(0, 10));
    expect(pathsIn(await text(socket))).toEqual(paths(41));
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
    socket.write(gets(MANY));
    await isBegun;
    socket.resetAndDestroy();
    await once(socket, 'close');
    end.emit('end');
    await exchange(get('other', 'Connection: close'));
    expect(served.length).toBeLessThan(MANY);
    expect(served).toContain('/other');
  });
});
