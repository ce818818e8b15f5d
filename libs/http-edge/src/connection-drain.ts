import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type NodeErrorOptions, refuse } from './node-errors.js';
import type { PipelineQueue } from './pipeline-queue.js';

/** The time within which requests in progress must begin their response. */
const RESPONSE_START_TIMEOUT_MS = 5_000;
/** The time after which unfinished responses are cut off. The whole shutdown may take 10 s. */
const DRAIN_TIMEOUT_MS = 8_000;
/** The time for which idle connections stay open, so that a response can still close them. */
const IDLE_TIMEOUT_MS = 500;
const IDLE_CHECK_INTERVAL_MS = 50;

/** Closes a server's connections after their requests. A slow request still gets a response. */
export class ConnectionDrain {
  /** True from the start of the drain. Responses then ask their clients to close the connection. */
  isDraining = false;
  private readonly sockets = new Set<Socket>();

  constructor(
    private readonly server: Server,
    private readonly queue: PipelineQueue,
    private readonly errors: NodeErrorOptions,
  ) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /** Refuses new connections at once. Resolves when all connections are closed. */
  async drain(): Promise<void> {
    if (!this.server.listening) return;
    this.isDraining = true;
    // Stops listening. `close` of an HTTP server would also close all idle connections at once.
    const closed = new Promise<void>((resolve) =>
      NetServer.prototype.close.call(this.server, () => resolve()),
    );
    const idleDeadline = performance.now() + IDLE_TIMEOUT_MS;
    const idleTimer = setInterval(() => {
      if (performance.now() >= idleDeadline) this.closeIdle();
    }, IDLE_CHECK_INTERVAL_MS);
    const responseTimer = setTimeout(() => this.refuseTheRest(), RESPONSE_START_TIMEOUT_MS);
    await Promise.race([closed, delay(DRAIN_TIMEOUT_MS, undefined, { ref: false })]);
    clearInterval(idleTimer);
    clearTimeout(responseTimer);
    // A closed connection would look like the end of a response without a length.
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  /**
   * Closes connections that have neither a request nor a part of one. Node's `closeIdleConnections`
   * would also cut off responses that are complete but not yet sent.
   */
  private closeIdle(): void {
    for (const socket of this.sockets) {
      const { pending, receivedBytes } = this.queue.requestsOf(socket);
      const isReceiving = socket.bytesRead > receivedBytes;
      const isSending = socket.writableLength > 0 || pending.length > 0;
      if (!isReceiving && !isSending) socket.destroy();
    }
  }

  private refuseTheRest(): void {
    for (const socket of this.sockets) {
      const [response] = this.queue.requestsOf(socket).pending;
      // A response that has begun may finish.
      if (response?.headersSent || socket.writableLength > 0) continue;
      const error = response?.req.complete ? 'SERVICE_UNAVAILABLE' : 'REQUEST_TIMEOUT';
      refuse(socket, error, this.errors, response?.req);
    }
  }
}
