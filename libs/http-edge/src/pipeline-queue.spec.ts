import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { answerNodeErrors } from './node-errors.js';
import { PipelineQueue } from './pipeline-queue.js';

/** The maximum number of requests of a connection that are in progress or wait. */
const MAX_REQUESTS = 17;
const FLOOD_REQUESTS = 3_000;
const get = (path: number | string, ...headers: string[]) =>
  [`GET /${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

/** Returns requests for /0, /1 and so on, as one text. */
const gets = (count: number) =>
  numbers(count)
    .map((number) => get(number))
    .join('');

describe('the requests of a connection', () => {
  let server: Server;
  let sockets: Socket[];
  /** Responds to a request. Some tests replace it. */
  let respond: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;
  let served: string[];
  let inProgress: { now: number; max: number };

  beforeEach(async () => {
    [served, sockets] = [[], []];
    inProgress = { now: 0, max: 0 };
    respond = (request, response) => void response.end(`${request.url}\n`);
    server = createServer();
    const queue = new PipelineQueue((request, response) => {
      inProgress.max = Math.max(inProgress.max, ++inProgress.now);
      served.push(request.url!);
      response.once('close', () => inProgress.now--);
      void respond(request, response);
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

  /** Writes a text and returns all that the server sends until it closes. */
  function exchange(bytes: string): Promise<string> {
    const socket = open();
    socket.write(bytes);
    return text(socket);
  }

  const pathsIn = (all: string) => [...all.matchAll(/^\/\d+$/gm)].map(([path]) => path);
  const paths = (count: number) => numbers(count).map((number) => `/${number}`);

  it('are served one after the other', async () => {
    const all = await exchange(gets(MAX_REQUESTS - 1) + get(MAX_REQUESTS - 1, 'Connection: close'));
    expect(pathsIn(all)).toEqual(paths(MAX_REQUESTS));
    expect(served).toEqual(paths(MAX_REQUESTS));
    expect(inProgress.max).toBe(1);
  });

  it('are served without limit if each is sent after the response to an earlier one', async () => {
    const socket = open();
    socket.write(gets(MAX_REQUESTS));
    let [sent, all] = [MAX_REQUESTS, ''];
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      all += chunk.toString();
      for (const end = pathsIn(all).length + MAX_REQUESTS - 1; sent < Math.min(end, 5 * MAX_REQUESTS); sent++)
        socket.write(get(sent));
      if (pathsIn(all).length === 5 * MAX_REQUESTS) break;
    }
    expect(pathsIn(all)).toEqual(paths(5 * MAX_REQUESTS));
  });

  it(`are dropped with their connection if there are more than ${MAX_REQUESTS}`, async () => {
    respond = (request, response) => {
      if (request.url === '/other') response.end('\n');
      else setImmediate(() => response.end('\n'));
    };
    await exchange(gets(FLOOD_REQUESTS)).catch(() => undefined);
    await exchange(get('other', 'Connection: close'));
    expect(served).toContain('/other');
    expect(served.length).toBeLessThanOrEqual(MAX_REQUESTS + 1);
  });

  it('let other connections be served between them', async () => {
    const events: string[] = [];
    respond = (request, response) => {
      events.push('served');
      response.once('finish', () => setImmediate(() => events.push('others')));
      response.end(`${request.url}\n`);
    };
    await exchange(gets(3) + get(3, 'Connection: close'));
    expect(events.slice(0, 6)).toEqual(['served', 'others', 'served', 'others', 'served', 'others']);
  });

  it.each([
    ['malformed HTTP', 'NONSENSE\r\n\r\n'],
    ['a request whose body is malformed', `${get(10, 'Transfer-Encoding: chunked')}nonsense\r\n`],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('are all answered, and nothing else, if they are followed by %s', async (_kind, bytes) => {
    respond = (request, response) => void setImmediate(() => response.end(`${request.url}\n`));
    const all = await exchange(gets(10) + bytes);
    expect(pathsIn(all)).toEqual(paths(10));
    expect(all.match(/HTTP\/1\.1 \d+/g)).toEqual(paths(10).map(() => 'HTTP/1.1 200'));
  });

  it('are dropped if the client closes the connection', async () => {
    const [respondAtOnce, begun, end] = [respond, new EventEmitter(), new EventEmitter()];
    respond = async (request, response) => {
      if (request.url !== '/0') return respondAtOnce(request, response);
      begun.emit('begun');
      await once(end, 'end');
      response.end();
    };
    const socket = open();
    const isBegun = once(begun, 'begun');
    socket.write(gets(MAX_REQUESTS));
    await isBegun;
    socket.resetAndDestroy();
    await once(socket, 'close');
    end.emit('end');
    await exchange(get('other', 'Connection: close'));
    expect(served).toEqual(['/0', '/other']);
  });
});
