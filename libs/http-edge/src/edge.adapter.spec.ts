import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from '@jest/globals';
import { EdgeAdapter } from './edge.adapter.js';

it('emits no request of a chunk after its connection is closed', async () => {
  const adapter = new EdgeAdapter(16_384);
  adapter.initHttpServer();
  const server = adapter.getHttpServer() as Server;
  const emitted: unknown[] = [];
  server.removeAllListeners('request').on('request', ({ url, socket }: IncomingMessage) => {
    emitted.push(url);
    if (url === '/1') socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  client.end([0, 1, 2, 3].map((number) => `GET /${number} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
  await once(client, 'close');
  server.close();
  expect(emitted).toEqual(['/0', '/1']);
});
