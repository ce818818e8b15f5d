import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The maximum number of requests of a connection that wait behind the one that is served. */
const MAX_WAITING_REQUESTS = 16;

/**
 * Serves the requests of a connection one after the other, in the order of their responses (RFC
 * 9112, section 9.3.2). Node would start all requests of one read at once, which can be 3,600. If
 * too many requests wait, the connection is closed.
 */
export class PipelineQueue {
  private readonly pending = new WeakMap<Duplex, ServerResponse[]>();

  constructor(private readonly serve: RequestListener) {}

  /** Returns the responses of a connection that are not complete, oldest first. */
  pendingOf(socket: Duplex): readonly ServerResponse[] {
    return this.pending.get(socket) ?? [];
  }

  /** Serves a request after all earlier ones of its connection. */
  take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    // Node still emits requests after the connection is closed or a request is refused.
    if (!socket.writable) return;
    let pending = this.pending.get(socket);
    if (!pending) this.pending.set(socket, (pending = []));
    if (pending.length > MAX_WAITING_REQUESTS) {
      socket.destroy();
      return;
    }
    const previous = pending.at(-1);
    pending.push(response);
    response.once('close', () => pending.shift());
    if (!previous) {
      this.serve(request, response);
      return;
    }
    // Other connections are served first.
    previous.once('close', () => setImmediate(() => socket.writable && this.serve(request, response)));
  }
}
