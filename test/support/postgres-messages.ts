import type { Socket } from 'node:net';

/**
 * Calls back with each whole message of PostgreSQL's protocol; those of a start have no type before their length.
 */
export function eachMessage(socket: Socket, isStart: () => boolean, act: (message: Buffer) => void): void {
  let rest = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const type = isStart() ? 0 : 1;
      if (rest.length < type + 4) return;
      const length = type + rest.readInt32BE(type);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      act(message);
    }
  });
}
