import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { ConnectionDrain } from './connection-drain.js';
import { PipelineQueue } from './pipeline-queue.js';

/** A response with more bytes than the kernel buffers for a client. */
const LARGE_RESPONSE = Buffer.alloc(30_000_000);

let server: Server;
const clients: Socket[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.close();
});

async function open(): Promise<Socket> {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(client.on('error', () => undefined));
  await once(client, 'connect');
  return client;
}

it('a drain closes idle connections while a slow client still reads its response', async () => {
  const queue = new PipelineQueue((request, response) =>
    response.end(request.url === '/large' ? LARGE_RESPONSE : 'ok'),
  );
  server = createServer((request, response) => queue.take(request, response));
  const refused: string[] = [];
  const drain = new ConnectionDrain(server, queue, {
    headers: () => ({}),
    onRefused: (error) => refused.push(error),
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const [slow, unused, idle, late] = [await open(), await open(), await open(), await open()];
  slow.pause().write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
  idle.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(idle, 'data');
  late.write('GET / HTTP/1.1\r\n');
  const drained = drain.drain();
  await Promise.all([once(unused.resume(), 'close'), once(idle.resume(), 'close')]);
  expect([slow.destroyed, late.destroyed, refused]).toEqual([false, false, []]);
  slow.resume();
  const [response] = (await once(late, 'data')) as [Buffer];
  expect(String(response)).toMatch(/^HTTP\/1.1 408 /);
  await drained;
});
