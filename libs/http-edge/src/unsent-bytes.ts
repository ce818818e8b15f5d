import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes of answers that may wait to be taken, on all connections together. */
const LIMIT = 256 * 1024 * 1024;
/** Milliseconds between two looks. */
const PERIOD = 500;

interface Progress {
  /** Bytes that waited at the last look. */
  readonly waiting: number;
  /** When some of them were taken last, on the clock of `performance`. */
  readonly since: number;
}

/** Bounds what clients leave in memory that do not read their answers: who has taken nothing for longest is cut off first. */
export function limitUnsentBytes(server: Server, limit = LIMIT): void {
  const sockets = new Map<Socket, Progress>();
  server.on('connection', (socket: Socket) => {
    sockets.set(socket, { waiting: 0, since: performance.now() });
    socket.once('close', () => sockets.delete(socket));
  });
  const look = () => {
    let total = 0;
    for (const [socket, last] of sockets) {
      const waiting = socket.writableLength;
      total += waiting;
      if (waiting !== last.waiting) sockets.set(socket, { waiting, since: performance.now() });
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
