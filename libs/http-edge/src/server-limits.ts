import type { Server } from 'node:http';
import type { RequestLimits } from './http-edge.options.js';
import { cutUnread } from './unread-answers.js';

/** Milliseconds between two looks for requests that take too long. */
const CHECK = 2_000;

/** Bounds how long a client may take, and hands what Node would answer with an empty body to the edge. */
export function limitServer(server: Server, limits: RequestLimits): void {
  server.headersTimeout = limits.headersTimeout;
  server.requestTimeout = limits.requestTimeout;
  server.keepAliveTimeout = limits.keepAliveTimeout;
  cutUnread(server, limits.unreadTimeout);
  // The bytes of the headers are the bound; Node would drop those over a count, and with them a second Authorization.
  server.maxHeadersCount = 0;
  // Read by Node when the server starts to listen; there are no public setters for a server that already exists.
  Object.assign(server, { connectionsCheckingInterval: CHECK, requireHostHeader: false });
}
