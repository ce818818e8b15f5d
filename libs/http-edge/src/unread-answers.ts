import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** What waited in the system for a client at the last look, and since when. */
interface Look {
  readonly queue: number | undefined;
  /** On the clock of `performance`. */
  readonly since: number;
}

/**
 * Cuts connections whose client has taken nothing of a waiting answer for this many milliseconds. Node only knows when
 * the system has taken nothing, and the system takes megabytes ahead of a slow client. Linux also tells how much of
 * that is left: a client that takes any of it is not cut.
 */
export function cutUnread(server: Server, milliseconds: number): void {
  // Node itself sets whole seconds on a connection without a request. So this number tells the two apart.
  const period = Math.floor(milliseconds / 3) + 1;
  const looks = new WeakMap<Socket, Look>();
  server.timeout = period;
  server.on('timeout', (socket: Socket) => {
    if (socket.timeout !== period) socket.destroy();
    else void look(socket);
  });

  async function look(socket: Socket): Promise<void> {
    socket.setTimeout(period);
    // Other limits bound the time in which a request arrives and its answer is made.
    if (socket.writableLength === 0) return;
    const last = looks.get(socket) ?? { queue: undefined, since: performance.now() - period };
    const queue = (await queuesOfSystem())?.get(nameOf(socket));
    const hasMoved = last.queue !== undefined && queue !== last.queue;
    const since = hasMoved ? performance.now() : last.since;
    looks.set(socket, { queue, since });
    if (performance.now() - since >= milliseconds - period / 2) socket.destroy();
  }
}

let reading: Promise<ReadonlyMap<string, number> | undefined> | undefined;

/** The bytes that Linux holds for each connection, by its ports; undefined on other systems. Calls share one read. */
function queuesOfSystem(): Promise<ReadonlyMap<string, number> | undefined> {
  reading ??= read().finally(() => (reading = undefined));
  return reading;
}

async function read(): Promise<ReadonlyMap<string, number> | undefined> {
  try {
    const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'latin1')));
    const queues = new Map<string, number>();
    for (const [, local, remote, queue] of tables
      .join('\n')
      .matchAll(/^ *\d+: [\dA-F]+:([\dA-F]{4}) [\dA-F]+:([\dA-F]{4}) [\dA-F]{2} ([\dA-F]{8}):/gm)) {
      const name = `${parseInt(local!, 16)} ${parseInt(remote!, 16)}`;
      // Clients with different addresses may have the same port. The sum changes when one of them takes something.
      queues.set(name, (queues.get(name) ?? 0) + parseInt(queue!, 16));
    }
    return queues;
  } catch {
    return undefined;
  }
}

function nameOf({ localPort, remotePort }: Socket): string {
  return `${localPort} ${remotePort}`;
}
