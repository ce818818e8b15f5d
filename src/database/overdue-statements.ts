import type { DataSource, QueryRunner } from 'typeorm';
import { Backends } from './backends.js';

/** Milliseconds after which a statement is overdue: what the server works on ends sooner, by its own limit. */
const PATIENCE = 2_000;
/** Milliseconds between two looks. */
const PAUSE = 1_000;
/** What a commit waits for that is to be on a synchronous standby, too (`wait_event`). */
const STANDBY = 'SyncRep';

/** What is used of a connection of node-postgres. */
interface Connection {
  readonly processID: number | null;
  readonly connection?: { readonly stream: { destroy(): void } };
  end(): Promise<void>;
}

interface Told {
  /** The server lets nobody look. */
  readonly silent: (since: number, error: unknown) => void;
  /** A commit waits for a synchronous standby. */
  readonly withoutStandby: (since: number) => void;
}

/**
 * Looks after statements that nobody waits for any more, since their requests have been answered. A connection stays in
 * the pool as long as the server works on its statement, or nobody knows: one that was given up would not end its work
 * on the server, and others would come in its place without a bound; a commit that waits for a synchronous standby
 * outlives every limit of time. A connection that nothing on the server works for is cut, so that its statement rejects.
 * To tell the one from the other takes a connection beside the pool, for a moment once a second.
 */
export class OverdueStatements {
  private readonly begun = new Map<Connection, number>();
  private timer: NodeJS.Timeout | undefined;
  private isLooking = false;
  private isStopped = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly told: Told,
  ) {}

  /** Looks after what runs on the connection of a runner until it settles. */
  async watch<T>(runner: QueryRunner, statement: (runner: QueryRunner) => Promise<T>): Promise<T> {
    const connection = (await runner.connect()) as Connection;
    this.begun.set(connection, performance.now());
    this.timer ??= setInterval(() => void this.check(), PAUSE).unref();
    try {
      return await statement(runner);
    } finally {
      this.begun.delete(connection);
    }
  }

  /** From now on whatever is overdue is cut without a look, so that the pool can end. */
  stop(): void {
    this.isStopped = true;
  }

  private async check(): Promise<void> {
    if (this.begun.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
    const now = performance.now();
    const overdue = [...this.begun].filter(([, since]) => since < now - PATIENCE);
    if (overdue.length === 0) return;
    if (this.isStopped) for (const [connection] of overdue) cut(connection);
    if (this.isLooking || this.isStopped) return;
    this.isLooking = true;
    try {
      await this.lookAfter(overdue);
    } catch (error) {
      this.told.silent(now, error);
    } finally {
      this.isLooking = false;
    }
  }

  private async lookAfter(overdue: readonly (readonly [Connection, number])[]): Promise<void> {
    const backends = await Backends.look(this.dataSource);
    try {
      const lost: Connection[] = [];
      for (const [connection, since] of overdue) {
        const backend = backends.workingFor(connection.processID);
        if (backend?.waitsFor === STANDBY) this.told.withoutStandby(since);
        // Its answer may have come meanwhile, and another statement may run on it.
        if (!backend && this.begun.get(connection) === since) lost.push(connection);
      }
      lost.forEach(cut);
      await backends.end(lost.map(({ processID }) => processID));
    } finally {
      await backends.close();
    }
  }
}

/** Ends a connection at once, without a word of either side. */
function cut(connection: Connection): void {
  if (connection.connection) connection.connection.stream.destroy();
  else connection.end().catch(() => undefined);
}
