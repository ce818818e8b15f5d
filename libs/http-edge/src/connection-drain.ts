import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type NodeErrorOptions, refuse } from './node-error-answers.js';
import type { PipelineQueue } from './pipeline-queue.js';

/** Milliseconds in which requests in flight must begin their answer. */
const GRACE = 5_000;
/**
 * Milliseconds after which unfinished answers are cut. The whole end may take 10 s; the rest of it needs the remainder.
 */
const LIMIT = 8_000;
/**
 * Milliseconds for which idle connections stay open, so that the next answer can tell a busy client to close its one.
 */
const FAREWELL = 500;
/** Milliseconds between two looks for connections that have become idle. */
const SWEEP = 50;

/** Ends the connections of a server. Those at work finish first; requests that are too slow still get an answer. */
export class ConnectionDrain {
  private readonly sockets = new Set<Socket>();
  /** The number of bytes that a connection had received when its last answer was complete. */
  private readonly received = new WeakMap<Socket, number>();
  private draining = false;

  constructor(
    private readonly server: Server,
    private readonly queue: PipelineQueue,
    private readonly errors: NodeErrorOptions,
  ) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) =>
      response.once('close', () => this.received.set(socket, socket.bytesRead)),
    );
  }

  /** True from the start of the drain: every answer now tells its client to close the connection. */
  get isDraining(): boolean {
    return this.draining;
  }

  /** Refuses new connections at once. Resolves when the last connection is closed, or cut at the limit. */
  async drain(): Promise<void> {
    if (!this.server.listening) return;
    this.draining = true;
    // Stops listening. close() of an HTTP server would also close every connection that is idle at this moment.
    const closed = new Promise<void>((resolve) =>
      NetServer.prototype.close.call(this.server, () => resolve()),
    );
    const farewell = performance.now() + FAREWELL;
    const sweep = setInterval(() => {
      if (performance.now() >= farewell) this.closeIdle();
    }, SWEEP);
    const timer = setTimeout(() => this.refuseTheRest(), GRACE);
    await Promise.race([closed, delay(LIMIT, undefined, { ref: false })]);
    clearInterval(sweep);
    clearTimeout(timer);
    for (const socket of this.sockets) socket.destroy();
  }

  /**
   * Closes connections without a request, also one of which a part has arrived. `closeIdleConnections` of Node also
   * cuts answers that are complete but not yet sent.
   */
  private closeIdle(): void {
    for (const socket of this.sockets) {
      const isReceiving = socket.bytesRead > (this.received.get(socket) ?? 0);
      const isAnswering = socket.writableLength > 0 || this.queue.pendingOf(socket).length > 0;
      if (!isReceiving && !isAnswering) socket.destroy();
    }
  }

  private refuseTheRest(): void {
    for (const socket of this.sockets) {
      const [answer] = this.queue.pendingOf(socket);
      // An answer that has begun is left to finish.
      if (answer?.headersSent || socket.writableLength > 0) continue;
      const error = answer?.req.complete ? 'SERVICE_UNAVAILABLE' : 'REQUEST_TIMEOUT';
      refuse(socket, error, this.errors, answer?.req);
    }
  }
}
