import { Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
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
  /**
   * The last response of each connection, if it has one. A set of all responses in progress would take
   * a tenth of the CPU time of a create.
   */
  private readonly lastResponses = new Map<Duplex, ServerResponse | undefined>();
  /** The response before the last one of each connection that has pipelined requests. */
  private readonly earlierResponses = new Map<Duplex, ServerResponse>();

  constructor(options: ServerOptions) {
    super(options);
    this.on('connection', (socket) => {
      this.lastResponses.set(socket, undefined);
      socket.once('close', () => {
        this.lastResponses.delete(socket);
        this.earlierResponses.delete(socket);
      });
    });
  }

  /** Keeps a new response as the last one of its connection. */
  track(response: ServerResponse): void {
    const { socket } = response.req;
    // Node still emits requests that it had read before the connection was closed.
    if (!this.lastResponses.has(socket)) return;
    const earlier = this.lastResponses.get(socket);
    if (earlier?.writableFinished === false) this.earlierResponses.set(socket, earlier);
    this.lastResponses.set(socket, response);
  }

  /** Returns the last response of a connection, which may be complete. */
  lastResponseOf(socket: Duplex): ServerResponse | undefined {
    return this.lastResponses.get(socket);
  }

  /** Returns the response before the last one of a connection if the last one had to wait for it. */
  earlierResponseOf(socket: Duplex): ServerResponse | undefined {
    return this.earlierResponses.get(socket);
  }

  /** Refuses new connections at once. Resolves when the others are closed: after their responses, or at the timeout. */
  async drain(timeoutMs = DRAIN_TIMEOUT_MS): Promise<void> {
    this.isDraining = true;
    const closed = new Promise((resolve) => this.close(resolve));
    await Promise.race([closed, delay(IDLE_TIMEOUT_MS)]);
    const timer = setInterval(() => this.closeIdle(), IDLE_CHECK_INTERVAL_MS);
    await Promise.race([closed, delay(timeoutMs - IDLE_TIMEOUT_MS, undefined, { ref: false })]);
    clearInterval(timer);
    // A closed connection would look like the end of a response without a length.
    for (const response of this.lastResponses.values())
      if (response?.writableFinished === false) response.req.socket.resetAndDestroy();
    this.closeAllConnections();
  }

  /** Keeps idle connections when `close` calls it. A client may be sending on one of them. */
  override closeIdleConnections(): void {
    // Only `drain` closes them.
  }

  private closeIdle(): void {
    // Node takes a response that was ended, but that its client has not read yet, for an idle connection.
    for (const response of this.lastResponses.values())
      if (response?.writableFinished === false && (response.writableEnded || isQueued(response))) return;
    super.closeIdleConnections();
  }
}

/** Returns whether an unfinished response waits for earlier ones of its connection. */
function isQueued(response: ServerResponse): boolean {
  return response.socket === null;
}
