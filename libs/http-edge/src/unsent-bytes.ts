import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The most bytes of answers that may wait for their clients, on all connections together. */
const LIMIT = 256 * 1024 * 1024;
/** Milliseconds between two looks. */
const PERIOD = 500;

interface Progress {
  /** Bytes that waited at the last look. */
  readonly waiting: number;
  /** How many of these bytes the system has not taken yet. */
  readonly queued: number;
  /** When the client last took some of them, on the clock of `performance`. */
  readonly since: number;
}

/** Limits the memory for answers that clients do not read. The client that took nothing for longest is cut first. */
export function limitUnsentBytes(server: Server, limit = LIMIT): void {
  const sockets = new Map<QueueingSocket, Progress>();
  server.on('connection', (socket: QueueingSocket) => {
    sockets.set(socket, { waiting: 0, queued: 0, since: performance.now() });
    socket.once('close', () => sockets.delete(socket));
  });
  const look = () => {
    let total = 0;
    for (const [socket, last] of sockets) {
      const waiting = socket.writableLength;
      total += waiting;
      const queued = socket._handle?.writeQueueSize ?? 0;
      if (waiting !== last.waiting || queued !== last.queued)
        sockets.set(socket, { waiting, queued, since: performance.now() });
    }
    if (total <= limit) return;
    const unread = [...sockets]
      .filter(([, { waiting }]) => waiting > 0)
      .sort(([, a], [, b]) => a.since - b.since);
    for (const [socket, { waiting }] of unread) {
      if (total <= limit) break;
      socket.destroy();
      total -= waiting;
    }
  };
  let timer: NodeJS.Timeout | undefined;
  server.on('listening', () => (timer = setInterval(look, PERIOD).unref()));
  server.on('close', () => clearInterval(timer));
}

/** How much of a write the system has still to take. Node's own time limits read the same field. */
type QueueingSocket = Socket & { readonly _handle?: { readonly writeQueueSize: number } | null };
