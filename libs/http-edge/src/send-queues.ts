import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

/** A function that returns the bytes in the kernel's send queue; undefined if it is unknown. */
export type SendQueueLookup = (socket: Socket) => number | undefined;

/** A row of the kernel's table: the local port, the remote port and the bytes in the send queue. */
const ROW = /^ *\d+: [\dA-F]+:([\dA-F]{4}) [\dA-F]+:([\dA-F]{4}) [\dA-F]{2} ([\dA-F]{8}):/gm;

let pendingRead: Promise<SendQueueLookup> | undefined;

/** Reads the send queues of all connections on Linux. Concurrent calls share a read. */
export function readSendQueues(): Promise<SendQueueLookup> {
  pendingRead ??= read().finally(() => (pendingRead = undefined));
  return pendingRead;
}

async function read(): Promise<SendQueueLookup> {
  const queues = new Map<string, number | undefined>();
  for (const name of ['tcp', 'tcp6']) {
    const table = await readFile(`/proc/net/${name}`, 'latin1').catch(() => '');
    for (const [, local, remote, queue] of table.matchAll(ROW)) {
      const key = portsKey(parseInt(local!, 16), parseInt(remote!, 16));
      // Clients with different addresses can have the same port.
      queues.set(key, queues.has(key) ? undefined : parseInt(queue!, 16));
    }
  }
  return ({ localPort, remotePort }) => queues.get(portsKey(localPort, remotePort));
}

function portsKey(localPort: number | undefined, remotePort: number | undefined): string {
  return `${localPort} ${remotePort}`;
}
