import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection, type Listener } from './connection.js';
import { FRESH_UUID } from './loads.js';

/** One round of load on one program. */
export interface Order {
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

/** Keeps one request under way on each connection until the time is over, then waits for those under way. */
async function drive(order: Order): Promise<Outcome> {
  const round = new Round(order);
  await round.connect();
  const start = performance.now();
  await round.run();
  const elapsed = performance.now() - start;
  const { latencies, failures } = round;
  const waits = round.close();
  const sorted = Float64Array.from([...latencies, ...waits]).sort();
  return {
    answered: latencies.length,
    unfinished: waits.length,
    perSecond: (sorted.length / elapsed) * 1_000,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    failures,
  };
}

class Round implements Listener {
  #sent = 0;
  /** Milliseconds. */
  readonly latencies: number[] = [];
  readonly failures: Record<string, number> = {};
  /** With the places of FRESH_UUID, -1 where there is none. */
  readonly #requests: readonly { readonly bytes: Buffer; readonly fresh: number }[];
  readonly #connections = new Set<Connection>();
  #isOver = false;
  #finish: () => void = () => undefined;

  constructor(private readonly order: Order) {
    this.#requests = order.requests
      .map((request) => Buffer.from(request))
      .map((bytes) => ({ bytes, fresh: bytes.indexOf(FRESH_UUID) }));
  }

  async connect(): Promise<void> {
    for (let i = 0; i < this.order.connections; i++) {
      this.#connections.add(await Connection.open(this.order.port, this));
    }
  }

  async run(): Promise<void> {
    const finished = new Promise<void>((resolve) => (this.#finish = resolve));
    for (const connection of this.#connections) this.#next(connection);
    await delay(this.order.seconds * 1_000);
    this.#isOver = true;
    this.#finishWhereQuiet();
    await Promise.race([finished, delay(this.order.drainSeconds * 1_000)]);
  }

  /** Closes all connections; returns how long each request that is still under way has waited. */
  close(): number[] {
    const waits = [...this.#connections].flatMap(({ waiting }) => waiting ?? []);
    for (const connection of this.#connections) connection.close();
    return waits;
  }

  answered(connection: Connection, status: number, milliseconds: number): void {
    if (status === this.order.status) this.latencies.push(milliseconds);
    else this.#note(`status ${status}`);
    this.#next(connection);
  }

  failed(connection: Connection, reason: string): void {
    this.#note(reason);
    this.#connections.delete(connection);
    if (this.#isOver) this.#finishWhereQuiet();
  }

  #next(connection: Connection): void {
    if (this.#isOver) this.#finishWhereQuiet();
    else connection.send(this.#request());
  }

  #request(): Buffer {
    const { bytes, fresh } = this.#requests[this.#sent++ % this.#requests.length]!;
    if (fresh < 0) return bytes;
    const request = Buffer.from(bytes);
    request.write(randomUUID(), fresh, 'latin1');
    return request;
  }

  #finishWhereQuiet(): void {
    if ([...this.#connections].every(({ waiting }) => waiting === undefined)) this.#finish();
  }

  #note(failure: string): void {
    this.failures[failure] = (this.failures[failure] ?? 0) + 1;
  }
}

/** The value below which a share of the sorted numbers lies (nearest rank); NaN where there are none. */
function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

process.on('message', (order) => {
  void drive(order as Order).then(
    (outcome) => process.send!({ outcome }),
    (error: unknown) => process.send!({ fault: String(error) }),
  );
});
// Nobody is left who would want an outcome.
process.on('disconnect', () => process.exit());
// Ctrl-C in a terminal reaches every process of the group; the bench ends this one itself.
process.on('SIGINT', () => undefined);
