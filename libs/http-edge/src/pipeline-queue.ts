import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The maximum number of requests of a connection that wait behind the one that is served. */
const MAX_WAITING_REQUESTS = 16;

/** The requests of a connection. */
interface ConnectionRequests {
  /** The responses that are not complete, oldest first. */
  readonly pending: ServerResponse[];
  last: IncomingMessage | undefined;
  /** The number of bytes that the connection had received when its last response was complete. */
  receivedBytes: number;
}

/**
 * Serves the requests of a connection one after the other, in the order of their responses (RFC
 * 9112, section 9.3.2). Node would start all requests of one read at once, which can be 3,600. If
 * too many requests wait, the connection is closed.
 */
export class PipelineQueue {
  private readonly connections = new WeakMap<Duplex, ConnectionRequests>();

  constructor(private readonly serve: RequestListener) {}

  requestsOf(socket: Duplex): ConnectionRequests {
    let requests = this.connections.get(socket);
    if (!requests) {
      requests = { pending: [], last: undefined, receivedBytes: 0 };
      this.connections.set(socket, requests);
    }
    return requests;
  }

  /** Serves a request after all earlier ones of its connection. */
  take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    // Node still emits requests after the connection is closed or a request is refused.
    if (!socket.writable) return;
    const requests = this.requestsOf(socket);
    const { pending } = requests;
    if (pending.length > MAX_WAITING_REQUESTS) {
      socket.destroy();
      return;
    }
    pending.push(response);
    requests.last = request;
    response.once('close', () => {
      pending.shift();
      requests.receivedBytes = socket.bytesRead;
      const [next] = pending;
      // Other connections are served first.
      if (next) setImmediate(() => socket.writable && this.serve(next.req, next));
    });
    if (pending.length === 1) this.serve(request, response);
  }
}
