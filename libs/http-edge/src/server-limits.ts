import type { Server } from 'node:http';
import type { RequestLimits } from './http-edge.options.js';

/** Milliseconds between two looks for requests that take too long. */
const CHECK = 2_000;

/** Limits the time of clients, and lets the edge answer where Node would answer with an empty body. */
export function limitServer(server: Server, limits: RequestLimits): void {
  server.headersTimeout = limits.headersTimeout;
  server.requestTimeout = limits.requestTimeout;
  server.keepAliveTimeout = limits.keepAliveTimeout;
  // Bytes are the limit of headers. By a limit of their number Node would drop some, and so a second Authorization.
  server.maxHeadersCount = 0;
  // Node reads this when the server starts to listen. An existing server has no public setter for it.
  Object.assign(server, { connectionsCheckingInterval: CHECK, requireHostHeader: false });
}
