import type { DataSource, QueryRunner } from 'typeorm';
import { Backends } from './backends.js';

/** Milliseconds after which a statement is overdue. The server's own limit for its work is shorter. */
const PATIENCE = 2_000;
/** Milliseconds between two looks. */
const PAUSE = 1_000;
/** The `wait_event` of a commit that waits for a synchronous standby. */
const STANDBY = 'SyncRep';

/** A connection of node-postgres: the parts that are used here. */
interface Connection {
  readonly processID: number | null;
  readonly connection?: { readonly stream: { destroy(): void } };
  end(): Promise<void>;
}

interface Told {
  /** The server does not let us look. */
  readonly silent: (since: number, error: unknown) => void;
  /** A commit waits for a synchronous standby. */
  readonly withoutStandby: (since: number) => void;
}

/**
 * Looks after statements whose requests have been answered already. Their connections stay in the pool while the server
 * works on the statement, or while nobody knows. A connection that was given up would not end the work on the server,
 * and new ones would take its place without a limit; a commit that waits for a synchronous standby outlives every time
 * limit. If no process of the server works for a connection, it is cut, and its statement rejects. To find out, this
 * uses a connection beside the pool, for a moment once a second.
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

  /** Runs a statement on a runner's connection, and looks after it until it settles. */
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

  /** From now on overdue statements are cut without a look, so that the pool can end. */
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
        // The answer may have come meanwhile, and the connection may run another statement.
        if (!backend && this.begun.get(connection) === since) lost.push(connection);
      }
      lost.forEach(cut);
      await backends.end(lost.map(({ processID }) => processID));
    } finally {
      await backends.close();
    }
  }
}

/** Closes a connection at once. Neither side says goodbye. */
function cut(connection: Connection): void {
  if (connection.connection) connection.connection.stream.destroy();
  else connection.end().catch(() => undefined);
}
