import type { Server, Socket } from 'node:net';
import { systemQueues } from './system-queues.js';

/**
 * Bytes that a client must take in a second while an answer waits for it, on average over the time that it has. The
 * slowest links that are sold carry 8,000: 64 kbit/s, as phones have them whose month is used up.
 */
const LEAST_RATE = 5_000;
/** The most bytes that may wait for clients, on all connections together. */
const MOST_WAITING = 256 * 1024 * 1024;
/** Milliseconds between two looks at how much waits. */
const PERIOD = 500;
/** How often a client is looked at in the time that it has. */
const LOOKS = 6;

/** How much a client had taken at a moment when more waited for it. */
interface Look {
  /** On the clock of `performance`. */
  readonly at: number;
  /** Bytes that the system has taken from us. */
  readonly given: number;
  /** Bytes that the client has taken from the system. NaN: the system does not tell. */
  readonly taken: number;
}

interface Reading {
  /** As in a look. */
  given: number;
  /** When that last grew, on the clock of `performance`. */
  since: number;
  /** The looks within the time that the client has, the oldest first. */
  looks: Look[];
}

/**
 * Bounds what waits for clients that read slowly or not at all. A client is cut that takes less than the least rate in
 * the time that it has. Where too much waits in all, those are cut first that took nothing for longest. One object
 * looks after all servers of an app: they share the memory.
 */
export class UnreadAnswers {
  private readonly readings = new Map<SystemSocket, Reading>();
  private timer: NodeJS.Timeout | undefined;
  private nextLook = 0;

  /** `time`: the milliseconds that a client has. */
  constructor(
    private readonly time: number,
    private readonly leastRate = LEAST_RATE,
    private readonly mostWaiting = MOST_WAITING,
  ) {}

  /** Looks after all connections that a server will have. */
  watch(server: Server): void {
    server.on('connection', (socket: SystemSocket) => {
      this.readings.set(socket, { given: 0, since: performance.now(), looks: [] });
      this.timer ??= setInterval(() => this.tick(), PERIOD).unref();
      socket.once('close', () => {
        this.readings.delete(socket);
        if (this.readings.size > 0) return;
        clearInterval(this.timer);
        this.timer = undefined;
      });
    });
  }

  private tick(): void {
    this.cutAboveMost();
    const now = performance.now();
    if (now < this.nextLook) return;
    this.nextLook = now + this.time / LOOKS;
    void this.cutSlow();
  }

  private cutAboveMost(): void {
    let total = 0;
    for (const [socket, reading] of this.readings) {
      total += socket.writableLength;
      const given = givenTo(socket);
      if (given === reading.given && socket.writableLength > 0) continue;
      reading.given = given;
      reading.since = performance.now();
    }
    if (total <= this.mostWaiting) return;
    const unread = [...this.readings]
      .filter(([socket]) => socket.writableLength > 0)
      .sort(([, a], [, b]) => a.since - b.since);
    for (const [socket] of unread) {
      if (total <= this.mostWaiting) break;
      total -= socket.writableLength;
      cut(socket);
    }
  }

  private async cutSlow(): Promise<void> {
    // Other limits bound the time in which a request arrives and its answer is made.
    const waiting = [...this.readings].filter(([socket, reading]) => {
      if (socket.writableLength === 0) reading.looks = [];
      return socket.writableLength > 0;
    });
    if (waiting.length === 0) return;
    const queueOf = await systemQueues();
    const now = performance.now();
    for (const [socket, { looks }] of waiting) {
      const given = givenTo(socket);
      looks.push({ at: now, given, taken: given - (queueOf(socket) ?? NaN) });
      // At least one remains that is as old as the time that the client has, as soon as there was one.
      while (looks[1] && looks[1].at <= now - this.time) looks.shift();
      if (looks[0]!.at <= now - this.time && this.isSlow(looks[0]!, looks.at(-1)!)) cut(socket);
    }
  }

  private isSlow(first: Look, last: Look): boolean {
    const taken = last.taken - first.taken;
    // The system takes megabytes ahead of a slow client, and then nothing for minutes. Where it tells nothing of that,
    // only silence counts.
    if (Number.isNaN(taken)) return last.given === first.given;
    return taken < (this.leastRate * (last.at - first.at)) / 1_000;
  }
}

/** Ends a connection at once. What the system has taken for it is dropped too. */
function cut(socket: Socket): void {
  socket.resetAndDestroy();
}

/** Bytes that the system has taken for a connection. */
function givenTo({ _handle }: SystemSocket): number {
  return _handle ? _handle.bytesWritten - _handle.writeQueueSize : 0;
}

/** A connection, with what Node's own time limits look at. */
type SystemSocket = Socket & {
  readonly _handle?: {
    /** All that the system was asked to take. */
    readonly bytesWritten: number;
    /** What of it the system has still to take. */
    readonly writeQueueSize: number;
  } | null;
};
