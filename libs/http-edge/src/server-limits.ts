import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestLimits } from './http-edge.options.js';

/** Milliseconds between two looks for requests that take too long. */
const CHECK = 2_000;

/** Bounds how long a client may take, and hands what Node would answer with an empty body to the edge. */
export function limitServer(server: Server, limits: RequestLimits): void {
  server.headersTimeout = limits.headersTimeout;
  server.requestTimeout = limits.requestTimeout;
  server.keepAliveTimeout = limits.keepAliveTimeout;
  // Node tells of a connection on which nothing has moved for so long, and takes bytes that the system has taken for movement.
  server.timeout = limits.unreadTimeout;
  server.on('timeout', (socket: AnsweringSocket) => {
    // How long a request may take to arrive has limits of its own.
    if (socket._httpMessage?.req.complete === false) socket.setTimeout(limits.unreadTimeout);
    else socket.destroy();
  });
  // The bytes of the headers are the bound; Node would drop those over a count, and with them a second Authorization.
  server.maxHeadersCount = 0;
  // Read by Node when the server starts to listen; there are no public setters for a server that already exists.
  Object.assign(server, { connectionsCheckingInterval: CHECK, requireHostHeader: false });
}

/** Node keeps the answer in progress here. */
type AnsweringSocket = Socket & { readonly _httpMessage?: ServerResponse | null };
