import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type NodeErrorOptions, refuse } from '../../errors/src/index.js';

/** Milliseconds that requests in flight get until their answer begins. */
const GRACE = 5_000;
/** Milliseconds after which answers that are still going out are cut: what is left of 10 s is for the rest of the end. */
const LIMIT = 8_000;
/** Milliseconds that a connection without a request stays open, so that a busy client is told to close it by its next answer. */
const FAREWELL = 500;
/** Milliseconds between two looks for connections that have become idle. */
const SWEEP = 50;

/** Ends the connections of a server: those at work finish first, those that do not finish in time get an answer all the same. */
export class ConnectionDrain {
  private readonly sockets = new Set<AnsweringSocket>();
  private draining = false;

  constructor(
    private readonly server: Server,
    private readonly errors: NodeErrorOptions,
  ) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /** True from the moment that connections are to be closed after their answer. */
  get isDraining(): boolean {
    return this.draining;
  }

  /** Refuses new connections at once; resolves when the last one is closed, or cut at the limit. */
  async drain(): Promise<void> {
    if (!this.server.listening) return;
    this.draining = true;
    // Stops listening. The close of an HTTP server would also end every connection that has no request at this very moment.
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

  /** Closes connections without a request. Node takes one for idle, too, whose answer is complete and not yet sent. */
  private closeIdle(): void {
    const unsent = [...this.sockets]
      .filter(({ writableLength }) => writableLength > 0)
      .map(({ _httpMessage }) => _httpMessage)
      .filter((answer) => answer?.writableEnded);
    // What Node reads for it.
    for (const answer of unsent) Object.assign(answer!, { finished: false });
    this.server.closeIdleConnections();
    for (const answer of unsent) Object.assign(answer!, { finished: true });
  }

  private refuseTheRest(): void {
    for (const socket of this.sockets) {
      const answer = socket._httpMessage;
      // What has begun is finished.
      if (answer?.headersSent || socket.writableLength > 0) continue;
      const error = answer?.req.complete ? 'SERVICE_UNAVAILABLE' : 'REQUEST_TIMEOUT';
      refuse(socket, error, this.errors, answer?.req);
    }
  }
}

/** Node keeps the answer in progress here; its own default error handler reads it too. */
type AnsweringSocket = Socket & { _httpMessage?: ServerResponse | null };
