import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { EdgeServer } from './edge.server.js';

/** A response with more bytes than the kernel buffers for a client. */
const LARGE_RESPONSE = Buffer.alloc(30_000_000);
/** More than the time after which a drain closes idle connections, in milliseconds. */
const AFTER_IDLE_MS = 1_000;

let server: EdgeServer;
const clients: Socket[] = [];
beforeEach(async () => {
  server = new EdgeServer({}).on('request', (request, response) => {
    server.track(response);
    if (request.url === '/endless') response.write('x');
    else response.end(request.url === '/large' ? LARGE_RESPONSE : 'ok');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.closeAllConnections();
  server.close();
});

/** Connects a client that does not read, and sends a request. Resolves when the server has it. */
async function open(path: string): Promise<Socket> {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  clients.push(client.on('error', () => undefined));
  client.write(requestOf(path));
  await once(server, 'request');
  return client;
}

const requestOf = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** Reads until the connection is closed. Returns the number of bytes. */
async function readAll(client: Socket): Promise<number> {
  let bytes = 0;
  client.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume();
  await once(client, 'close');
  return bytes;
}

it('a drain sends a response in full that was ended before, and serves its other connections meanwhile', async () => {
  const { port } = server.address() as AddressInfo;
  const [slow, idle] = [await open('/large'), await open('/')];
  let text = '';
  idle.on('data', (chunk) => (text += String(chunk))).resume();
  const drained = server.drain();
  await delay(AFTER_IDLE_MS);
  const refused = connect(port, '127.0.0.1');
  expect(await once(refused, 'error').catch((error: unknown) => [error])).toMatchObject([
    { code: 'ECONNREFUSED' },
  ]);
  idle.write(requestOf('/'));
  while (text.split('HTTP/1.1 200').length < 3) await delay(10);
  const closed = once(idle, 'close');
  expect(await readAll(slow)).toBeGreaterThan(LARGE_RESPONSE.length);
  await Promise.all([closed, drained]);
});

it('a drain ends by a reset if a response does not end, so that no client takes a part for the whole', async () => {
  const client = await open('/endless');
  const reset = once(client, 'error').catch((error: unknown) => [error]);
  const drained = server.drain(1_000);
  client.resume();
  expect(await reset).toMatchObject([{ code: 'ECONNRESET' }]);
  await drained;
});
