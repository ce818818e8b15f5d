import { Server, type ServerResponse } from 'node:http';
import { finished } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

/** The time for which idle connections stay open, so that a response can still close them. */
const IDLE_TIMEOUT_MS = 500;
const IDLE_CHECK_INTERVAL_MS = 50;
/** The time after which unfinished responses are cut off. The whole shutdown may take 10 s. */
const DRAIN_TIMEOUT_MS = 8_000;

/** An HTTP server that can close after it has answered the requests that it has received. */
export class EdgeServer extends Server {
  /** Keeps the connection of a client that has closed its side: the client still reads the response. */
  readonly httpAllowHalfOpen = true;
  /** No limit: Node would drop further headers, such as a second Authorization. */
  override maxHeadersCount = 0;
  /** True from the start of the drain. Responses then ask their clients to close the connection. */
  isDraining = false;
  /** The responses that are not complete, or whose requests are not, oldest first. */
  readonly responses = new Set<ServerResponse>();

  /** Forgets a closed response, but not before its request is complete. */
  forget(response: ServerResponse): void {
    if (response.req.complete) this.responses.delete(response);
    else finished(response.req, () => this.responses.delete(response));
  }

  /** Refuses new connections at once. Resolves when the others are closed, each after its responses. */
  async drain(): Promise<void> {
    this.isDraining = true;
    const closed = new Promise((resolve) => this.close(resolve));
    await Promise.race([closed, delay(IDLE_TIMEOUT_MS)]);
    const timer = setInterval(() => this.closeIdle(), IDLE_CHECK_INTERVAL_MS);
    await Promise.race([closed, delay(DRAIN_TIMEOUT_MS - IDLE_TIMEOUT_MS, undefined, { ref: false })]);
    clearInterval(timer);
    // A closed connection would look like the end of a response without a length.
    for (const { req } of this.responses) req.socket.resetAndDestroy();
    this.closeAllConnections();
  }

  /** Keeps idle connections when `close` calls it. A client may be sending on one of them. */
  override closeIdleConnections(): void {
    // Only `drain` closes them.
  }

  private closeIdle(): void {
    // Node takes a response that was ended, but that its client has not read yet, for an idle connection.
    for (const response of this.responses) if (response.writableEnded && !response.writableFinished) return;
    super.closeIdleConnections();
  }
}
