import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The prefix that proxies remove: `/tl/livez` reaches the service as `/livez`. */
const PREFIX = '/tl';

/** Starts a proxy that removes the prefix, and knows no other path. */
export async function startProxy(servicePort: number): Promise<{ base: string; server: Server }> {
  const server = createServer((incoming, outgoing) => {
    if (!incoming.url!.startsWith(`${PREFIX}/`)) {
      outgoing.writeHead(404).end('outside the prefix');
      return;
    }
    const { method, headers } = incoming;
    const path = incoming.url!.slice(PREFIX.length);
    const forwarded = request({ port: servicePort, host: '127.0.0.1', method, path, headers }, (response) => {
      outgoing.writeHead(response.statusCode!, response.rawHeaders);
      response.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PREFIX}`, server };
}
