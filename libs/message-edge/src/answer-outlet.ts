import type { Socket } from 'node:net';

/** Where the answer to a message goes. */
export interface AnswerOutlet {
  /** Whether nobody is there any more. */
  isClosed(): boolean;
  /** Resolves when all that was handed over has left the process or is lost. */
  sent(): Promise<unknown>;
  /** Gives up what has not left yet. */
  close(): void;
}

const OUTLET = Symbol.for('time-logs.outlet');

interface Answered {
  [OUTLET]?: AnswerOutlet;
}

/** Keeps with the data of a message where its answer goes. */
export function keepOutlet(data: object, outlet: AnswerOutlet): void {
  (data as Answered)[OUTLET] = outlet;
}

/** Where the answer goes to a message that MessageGate has let pass, by its data. */
export function outletOf(data: object): AnswerOutlet {
  return (data as Answered)[OUTLET]!;
}

/** That of a client with a connection of its own. */
export function outletTo(socket: Socket): AnswerOutlet {
  return {
    isClosed: () => socket.destroyed,
    // It is written after all that waits.
    sent: () => new Promise((resolve) => socket.write('', resolve)),
    close: () => socket.destroy(),
  };
}
