import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createGunzip, createGzip, type Gzip } from 'node:zlib';
import { expect, it } from '@jest/globals';
import { sendContent } from './send-content.js';

/** Sends a response through a stream that compresses, which gets listeners for `drain` too, as `compression` does. */
function compress(response: ServerResponse): Gzip {
  const gzip = createGzip({ level: 0 });
  const on = response.on.bind(response);
  const write = response.write.bind(response) as (chunk: Buffer) => boolean;
  gzip.on('data', (chunk: Buffer) => {
    if (!write(chunk)) gzip.pause();
  });
  gzip.on('end', response.end.bind(response));
  on('drain', () => gzip.resume());
  Object.assign(response, {
    on: (type: string, listener: () => void) => (type === 'drain' ? gzip : { on }).on(type, listener),
    write: (chunk: Buffer) => gzip.write(chunk),
    end: () => gzip.end(),
  });
  return gzip;
}

it('sendContent adds one listener for all parts, which a middleware that compresses does not remove', async () => {
  const part = Buffer.alloc(65_536, 'x');
  let listeners: number | undefined;
  const server = createServer((_request, response) => {
    const gzip = compress(response);
    const parts = Array(40).fill(part).values() as Iterator<Uint8Array>;
    const rest = { next: () => Promise.resolve(parts.next()) } as AsyncIterator<Uint8Array>;
    void sendContent(response, parts.next(), rest, new AbortController().signal).then(() => {
      listeners = gzip.listenerCount('drain');
      response.end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const [answer] = (await once(get({ port: (server.address() as AddressInfo).port }), 'response')) as [
    IncomingMessage,
  ];
  expect(await buffer(answer.pipe(createGunzip()))).toHaveLength(40 * part.length);
  server.close();
  expect(listeners).toBe(1);
});
