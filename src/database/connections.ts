import type { DataSource, QueryRunner, ReplicationMode } from 'typeorm';
import { inBackground } from '../../libs/batching/src/index.js';
import { Backends, type DatabaseServer } from './backends.js';

/** The time after which a statement is overdue: longer than its `statement_timeout`. */
const OVERDUE_MS = 2_000;
const CHECK_INTERVAL_MS = 1_000;
/** The `wait_event` of a commit that waits for a synchronous standby. */
const STANDBY_WAIT_EVENT = 'SyncRep';

/** The parts of a node-postgres connection that are used here. */
interface Connection extends DatabaseServer {
  readonly processID: number | null;
  readonly connection?: { readonly stream: { destroy(): void } };
  end(): Promise<void>;
}

interface OverdueCallbacks {
  /** Called if the backends cannot be read. */
  readonly onNoAnswer: (since: number, error: unknown) => void;
  /** Called if a commit waits for a synchronous standby. */
  readonly onMissingStandby: (since: number) => void;
}

/**
 * The connections of a DataSource. All existing ones can be replaced at once.
 *
 * It watches statements whose requests have already been answered. Their connections stay in the
 * pool while a backend works for them, or while that is unknown: closing a connection does not end
 * the work of the server, so that the number of backends would have no limit. A commit that waits
 * for a synchronous standby outlasts every timeout.
 *
 * If no backend works for a connection, the connection is closed and its statement rejects. To find
 * out, this class opens a separate connection for a moment, at most once a second.
 */
export class Connections {
  private generation = 0;
  private readonly generations = new WeakMap<Connection, number>();
  /** The times when the running statements began. */
  private readonly startTimes = new Map<Connection, number>();
  private timer: NodeJS.Timeout | undefined;
  private isChecking = false;
  private isStopped = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly callbacks: OverdueCallbacks,
    /** Whether they are those to the primary, or to the replicas. */
    private readonly mode: ReplicationMode = 'master',
  ) {}

  /** Returns a runner with a connection. Release it after use. Throws the errors of the driver. */
  async acquire(): Promise<QueryRunner> {
    for (;;) {
      const runner = this.dataSource.createQueryRunner(this.mode);
      const connection = (await runner.connect()) as Connection;
      const generation = this.generations.get(connection);
      if (generation === undefined) this.generations.set(connection, this.generation);
      if ((generation ?? this.generation) === this.generation) return runner;
      await this.discard(runner);
      await runner.release();
    }
  }

  /** Runs a statement on the connection of a runner, and watches it until it settles. */
  async watch<T>(runner: QueryRunner, statement: () => Promise<T>): Promise<T> {
    const connection = (await runner.connect()) as Connection;
    this.startTimes.set(connection, performance.now());
    this.timer ??= setInterval(() => void inBackground(() => this.check()), CHECK_INTERVAL_MS).unref();
    try {
      return await statement();
    } finally {
      this.startTimes.delete(connection);
    }
  }

  /** Ends the connection of a runner. The pool replaces it. */
  async discard(runner: QueryRunner): Promise<void> {
    const connection = (await runner.connect()) as Connection;
    connection.end().catch(() => undefined);
  }

  /** Makes the pool replace each existing connection before its next use. */
  replaceAll(): void {
    this.generation++;
  }

  /** Makes later checks close overdue connections at once, so that the pool can end. */
  stop(): void {
    this.isStopped = true;
  }

  private async check(): Promise<void> {
    if (this.startTimes.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
    const now = performance.now();
    const overdue = [...this.startTimes].filter(([, since]) => since < now - OVERDUE_MS);
    if (overdue.length === 0) return;
    if (this.isStopped) for (const [connection] of overdue) closeNow(connection);
    if (this.isChecking || this.isStopped) return;
    this.isChecking = true;
    for (const server of new Set(overdue.map(([{ host, port }]) => `${host}:${port}`))) {
      const ofServer = overdue.filter(([{ host, port }]) => `${host}:${port}` === server);
      await this.closeLost(ofServer).catch((error: unknown) => this.callbacks.onNoAnswer(now, error));
    }
    this.isChecking = false;
  }

  private async closeLost(overdue: readonly (readonly [Connection, number])[]): Promise<void> {
    const backends = await Backends.read(this.dataSource, overdue[0]![0]);
    try {
      const lost: Connection[] = [];
      for (const [connection, since] of overdue) {
        const backend = backends.workingFor(connection.processID);
        if (backend?.waitsFor === STANDBY_WAIT_EVENT) this.callbacks.onMissingStandby(since);
        // Meanwhile the statement may have ended, and the connection may run another one.
        if (!backend && this.startTimes.get(connection) === since) lost.push(connection);
      }
      lost.forEach(closeNow);
      await backends.terminate(lost.map(({ processID }) => processID));
    } finally {
      await backends.close();
    }
  }
}

/** Closes a connection at once, without a Terminate message to the server. */
function closeNow(connection: Connection): void {
  if (connection.connection) connection.connection.stream.destroy();
  else connection.end().catch(() => undefined);
}
