import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { FRESH_UUID } from './loads.js';

/** One round of load on one program. */
interface Order {
  readonly port: number;
  readonly connections: number;
  /** Whole HTTP requests, sent in turn. */
  readonly requests: readonly string[];
  /** Any other status is a failure. */
  readonly status: number;
  readonly seconds: number;
  /** Seconds that requests under way at the end of the round are waited for. */
  readonly drainSeconds: number;
}

/** The results of the requests. */
export interface Outcome {
  /** Requests answered with the expected status. */
  readonly answered: number;
  /** Requests that were not answered in time. They count as answered at the end: in favour of what is measured. */
  readonly unfinished: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** How often each failure was seen. */
  readonly failures: Readonly<Record<string, number>>;
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const END_OF_CHUNKS = Buffer.from('\r\n0\r\n\r\n');
const NOTHING = Buffer.alloc(0);

/**
 * One kept HTTP/1.1 connection with at most one request under way. By hand, because the load driver shares the
 * machine with what it measures: node:http costs several times as much.
 */
class Connection {
  private settle: ((outcome: number | string) => void) | undefined;
  private status = 0;
  /** The bytes of the head so far, or the last ones of a body in chunks. */
  private kept: Buffer = NOTHING;
  /** Bytes of the body that are still to come, Infinity if it comes in chunks; undefined while the head is. */
  private missing: number | undefined;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => this.fail(error.code ?? error.message));
    socket.on('close', () => this.fail('closed'));
  }

  /** Opens a connection to loopback; rejects where nobody listens. */
  static async open(port: number): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** Resolves with the status when the answer has come in whole, or with what is wrong with the connection. */
  async send(request: Buffer): Promise<number | string> {
    if (this.socket.destroyed) return 'closed';
    return new Promise((resolve) => {
      this.settle = resolve;
      this.socket.write(request);
    });
  }

  /** Ends the connection; a request that is under way is never answered. */
  close(): void {
    this.socket.removeAllListeners();
    this.socket.on('error', () => undefined);
    this.socket.destroy();
  }

  private read(chunk: Buffer): void {
    if (this.missing === undefined) {
      const bytes = Buffer.concat([this.kept, chunk]);
      const end = bytes.indexOf(END_OF_HEAD);
      this.kept = end < 0 ? bytes : NOTHING;
      if (end < 0) return;
      const head = bytes.toString('latin1', 0, end);
      this.status = Number(head.slice(9, 12));
      this.missing = Number(CONTENT_LENGTH.exec(head)?.[1] ?? Infinity);
      chunk = bytes.subarray(end + END_OF_HEAD.length);
    }
    this.missing -= chunk.length;
    // A row of an export is never a lone zero.
    if (this.missing === Infinity)
      this.kept = Buffer.concat([this.kept, chunk]).subarray(-END_OF_CHUNKS.length);
    if (this.missing === 0 || this.kept.equals(END_OF_CHUNKS)) this.complete();
    else if (this.missing < 0 || !this.settle) this.fail('more bytes than announced');
  }

  private complete(): void {
    const { settle, status } = this;
    this.settle = this.missing = undefined;
    this.kept = NOTHING;
    settle?.(status);
  }

  private fail(reason: string): void {
    this.close();
    this.settle?.(reason);
  }
}

/** Keeps one request under way on each connection until the time is over, then waits for those under way. */
export async function drive(order: Order): Promise<Outcome> {
  const next = inTurn(order.requests);
  const latencies: number[] = [];
  const failures: Record<string, number> = {};
  const note = (failure: string) => void (failures[failure] = (failures[failure] ?? 0) + 1);
  /** When the request that is under way on each connection was sent. */
  const sentAt = new Map<Connection, number>();
  let isOver = false;
  const work = async (connection: Connection) => {
    while (!isOver) {
      const sent = performance.now();
      sentAt.set(connection, sent);
      const outcome = await connection.send(next());
      sentAt.delete(connection);
      if (outcome === order.status) latencies.push(performance.now() - sent);
      else note(typeof outcome === 'number' ? `status ${outcome}` : outcome);
      if (typeof outcome === 'string') break;
    }
  };
  const connections = await Promise.all(
    Array.from({ length: order.connections }, () => Connection.open(order.port)),
  );
  const start = performance.now();
  const working = Promise.all(connections.map(work));
  await delay(order.seconds * 1_000);
  isOver = true;
  await Promise.race([working, delay(order.drainSeconds * 1_000)]);
  const end = performance.now();
  const waits = [...sentAt.values()].map((sent) => end - sent);
  for (const connection of connections) connection.close();
  const sorted = Float64Array.from([...latencies, ...waits]).sort();
  return {
    answered: latencies.length,
    unfinished: waits.length,
    perSecond: (sorted.length / (end - start)) * 1_000,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    failures,
  };
}

/** Returns a function for the next request: FRESH_UUID in it is a new UUID each time. */
function inTurn(requests: readonly string[]): () => Buffer {
  const all = requests
    .map((request) => Buffer.from(request))
    .map((bytes) => ({ bytes, fresh: bytes.indexOf(FRESH_UUID) }));
  let sent = 0;
  return () => {
    const { bytes, fresh } = all[sent++ % all.length]!;
    if (fresh < 0) return bytes;
    const request = Buffer.from(bytes);
    request.write(randomUUID(), fresh, 'latin1');
    return request;
  };
}

/** The value below which a share of the sorted numbers lies (nearest rank); NaN where there are none. */
function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}
