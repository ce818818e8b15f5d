import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

/** How many bytes of a connection the system still holds, since its client has not taken them; undefined: unknown. */
export type QueueOf = (socket: Socket) => number | undefined;

/** Both ends of each connection, and what waits in the system between them. */
const ROW = /^ *\d+: [\dA-F]+:([\dA-F]{4}) [\dA-F]+:([\dA-F]{4}) [\dA-F]{2} ([\dA-F]{8}):/gm;

let reading: Promise<QueueOf> | undefined;

/** Asks the system what it holds. Only Linux tells. Calls share one read. */
export function systemQueues(): Promise<QueueOf> {
  reading ??= read().finally(() => (reading = undefined));
  return reading;
}

async function read(): Promise<QueueOf> {
  const queues = new Map<string, number | undefined>();
  for (const name of ['tcp', 'tcp6']) {
    const table = await readFile(`/proc/net/${name}`, 'latin1').catch(() => '');
    for (const [, local, remote, queue] of table.matchAll(ROW)) {
      const ports = nameOf(parseInt(local!, 16), parseInt(remote!, 16));
      // Two clients with different addresses can have the same port.
      queues.set(ports, queues.has(ports) ? undefined : parseInt(queue!, 16));
    }
  }
  return ({ localPort, remotePort }) => queues.get(nameOf(localPort, remotePort));
}

function nameOf(localPort: number | undefined, remotePort: number | undefined): string {
  return `${localPort} ${remotePort}`;
}
