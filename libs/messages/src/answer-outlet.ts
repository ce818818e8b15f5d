import type { Socket } from 'node:net';
import type { Outlet } from '../../strict-request/src/index.js';

const OUTLET = Symbol.for('time-logs.outlet');

interface Answered {
  [OUTLET]?: Outlet;
}

/** Keeps with the data of a message where its answer goes. */
export function keepOutlet(data: object, outlet: Outlet): void {
  (data as Answered)[OUTLET] = outlet;
}

/** Where the answer goes to a message that MessageGate has let pass, by its data. */
export function outletOf(data: object): Outlet {
  return (data as Answered)[OUTLET]!;
}

/** That of a client with a connection of its own. */
export function outletTo(socket: Socket): Outlet {
  return {
    isClosed: () => socket.destroyed,
    // It is written after all that waits.
    sent: () => new Promise((resolve) => socket.write('', resolve)),
    close: () => socket.destroy(),
  };
}
