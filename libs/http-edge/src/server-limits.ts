import type { Server } from 'node:http';

/** Milliseconds; the keep-alive is longer than the 60 s that load balancers keep an idle connection. */
const LIMITS = { headers: 10_000, request: 15_000, check: 2_000, keepAlive: 65_000 };

/** Bounds how long a client may take, and hands what Node would answer with an empty body to the edge. */
export function limitServer(server: Server): void {
  server.headersTimeout = LIMITS.headers;
  server.requestTimeout = LIMITS.request;
  server.keepAliveTimeout = LIMITS.keepAlive;
  // 16 KiB of headers are the bound; Node would drop those over a count, and with them a second Authorization.
  server.maxHeadersCount = 0;
  // Read by Node when the server starts to listen; there are no public setters for a server that already exists.
  Object.assign(server, { connectionsCheckingInterval: LIMITS.check, requireHostHeader: false });
}
