import type { Server, Socket } from 'node:net';
import { readSendQueues } from './send-queues.js';

/**
 * The minimum rate at which a client must read a waiting response, on average over the timeout. A
 * phone with a used-up data plan still has 8,000 bytes per second (64 kbit/s).
 */
const MIN_BYTES_PER_SECOND = 5_000;
/** The maximum number of bytes that wait for clients, on all connections together. */
const MAX_UNREAD_BYTES = 256 * 1024 * 1024;
const CHECK_INTERVAL_MS = 500;
/** The number of times that the rate of a client is measured within the timeout. */
const SAMPLES_PER_TIMEOUT = 6;

/** The progress of a client at a moment when data was waiting for it. */
interface Sample {
  /** The time in milliseconds, from `performance`. */
  readonly at: number;
  /** The number of bytes that the kernel has accepted from this process. */
  readonly accepted: number;
  /** The number of bytes that the client has acknowledged; NaN if the kernel does not report it. */
  readonly acknowledged: number;
}

interface ConnectionState {
  /** As in a Sample. */
  accepted: number;
  /** The time at which `accepted` last grew, in milliseconds from `performance`. */
  since: number;
  /** The samples within the timeout, oldest first. */
  samples: Sample[];
}

/**
 * Limits the data that waits for slow or stalled clients. It resets the connection of a client that
 * is slower than the minimum rate over the timeout. If too many bytes wait in total, it resets the
 * connections that have been stalled longest. All servers of an app share one limiter.
 */
export class UnreadResponseLimiter {
  private readonly connections = new Map<SystemSocket, ConnectionState>();
  private timer: NodeJS.Timeout | undefined;
  private nextSample = 0;

  constructor(
    private readonly timeoutMs: number,
    private readonly minBytesPerSecond = MIN_BYTES_PER_SECOND,
    private readonly maxUnreadBytes = MAX_UNREAD_BYTES,
  ) {}

  /** Watches all future connections of a server. */
  watch(server: Server): void {
    server.on('connection', (socket: SystemSocket) => {
      this.connections.set(socket, { accepted: 0, since: performance.now(), samples: [] });
      this.timer ??= setInterval(() => this.check(), CHECK_INTERVAL_MS).unref();
      socket.once('close', () => {
        this.connections.delete(socket);
        if (this.connections.size > 0) return;
        clearInterval(this.timer);
        this.timer = undefined;
      });
    });
  }

  private check(): void {
    this.enforceMaximum();
    const now = performance.now();
    if (now < this.nextSample) return;
    this.nextSample = now + this.timeoutMs / SAMPLES_PER_TIMEOUT;
    void this.resetSlow();
  }

  private enforceMaximum(): void {
    let total = 0;
    for (const [socket, state] of this.connections) {
      total += socket.writableLength;
      const accepted = acceptedBytes(socket);
      if (accepted === state.accepted && socket.writableLength > 0) continue;
      state.accepted = accepted;
      state.since = performance.now();
    }
    if (total <= this.maxUnreadBytes) return;
    const unread = [...this.connections]
      .filter(([socket]) => socket.writableLength > 0)
      .sort(([, a], [, b]) => a.since - b.since);
    for (const [socket] of unread) {
      if (total <= this.maxUnreadBytes) break;
      total -= socket.writableLength;
      socket.resetAndDestroy();
    }
  }

  private async resetSlow(): Promise<void> {
    // Other limits apply while a request is received and its response is made.
    const waiting = [...this.connections].filter(([socket, state]) => {
      if (socket.writableLength === 0) state.samples = [];
      return socket.writableLength > 0;
    });
    if (waiting.length === 0) return;
    const sendQueueOf = await readSendQueues();
    const now = performance.now();
    for (const [socket, { samples }] of waiting) {
      const accepted = acceptedBytes(socket);
      samples.push({ at: now, accepted, acknowledged: accepted - (sendQueueOf(socket) ?? NaN) });
      // Keeps one sample that is at least as old as the timeout.
      while (samples[1] && samples[1].at <= now - this.timeoutMs) samples.shift();
      const [first, last] = [samples[0]!, samples.at(-1)!];
      if (first.at <= now - this.timeoutMs && this.isSlow(first, last)) socket.resetAndDestroy();
    }
  }

  private isSlow(first: Sample, last: Sample): boolean {
    const bytes = last.acknowledged - first.acknowledged;
    // The kernel accepts megabytes for a slow client and then nothing for minutes. If it reports no
    // queue, only a client without any progress is slow.
    if (Number.isNaN(bytes)) return last.accepted === first.accepted;
    return bytes < (this.minBytesPerSecond * (last.at - first.at)) / 1_000;
  }
}

function acceptedBytes({ _handle }: SystemSocket): number {
  return _handle ? _handle.bytesWritten - _handle.writeQueueSize : 0;
}

/** A socket with the handle that Node's own timeouts read. */
type SystemSocket = Socket & {
  readonly _handle?: {
    /** The number of bytes that were passed to the kernel. */
    readonly bytesWritten: number;
    /** The number of these bytes that the kernel has not accepted. */
    readonly writeQueueSize: number;
  } | null;
};
