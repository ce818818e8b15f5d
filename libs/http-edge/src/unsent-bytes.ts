import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes of answers that may wait to be taken, on all connections together. */
const LIMIT = 256 * 1024 * 1024;
/** Milliseconds between two looks. */
const PERIOD = 500;

interface Progress {
  /** Bytes that waited at the last look. */
  readonly waiting: number;
  /** Those of them that the system has not taken yet. */
  readonly queued: number;
  /** When some of them were taken last, on the clock of `performance`. */
  readonly since: number;
}

/** Bounds what clients leave in memory that do not read their answers: who has taken nothing for longest is cut off first. */
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

/** Node tells by this how much of a write is still to be taken; its own time limits read it too. */
type QueueingSocket = Socket & { readonly _handle?: { readonly writeQueueSize: number } | null };
