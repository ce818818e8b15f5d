import { DomainError } from '../../libs/errors/src/index.js';
import type { ReadLimit, Statement, TextRow, TextStatement } from './statements.js';
import { isTimeout } from './unavailability.js';

/** The time that the transaction waits for the lock of its table: shorter than any deadline. */
const LOCK_TIMEOUT_MS = 1_000;
/** The time after which the server ends a transaction whose process is frozen: longer than any export. */
const MAX_IDLE_MS = 11 * 60_000;

/** Sends a statement on one connection. Throws the errors of the driver. */
type Send = (sql: Statement, parameters?: readonly unknown[]) => Promise<{ readonly rows: unknown[] }>;

/** A transaction that reads one moment of the database. Each statement has the same limit. */
export class Snapshot {
  private constructor(
    private readonly send: Send,
    private readonly limit: ReadLimit,
  ) {}

  /** Begins it on a connection, with a lock of a table, which has a quoted name. */
  static async begin(send: Send, table: string, limit: ReadLimit): Promise<Snapshot> {
    // TRUNCATE ignores snapshots, so the lock comes before the first statement that takes one.
    await send(
      `begin isolation level repeatable read read only; set local lock_timeout = ${LOCK_TIMEOUT_MS};
       lock table ${table} in access share mode; set local statement_timeout = ${limit.timeoutMs};
       set local idle_in_transaction_session_timeout = ${MAX_IDLE_MS}; set local jit = off`,
    );
    return new Snapshot(send, limit);
  }

  /**
   * Runs a statement that reads. Throws DomainError SERVICE_UNAVAILABLE if it takes longer than the limit, and the
   * errors of the driver.
   */
  query<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  query(sql: TextStatement, parameters?: readonly unknown[]): Promise<TextRow[]>;
  async query(sql: Statement, parameters?: readonly unknown[]): Promise<unknown[]> {
    const sent = this.send(sql, parameters).catch((error: unknown) => {
      if (!isTimeout(error)) throw error;
      throw new DomainError('SERVICE_UNAVAILABLE', this.limit.message, { cause: error });
    });
    return (await sent).rows;
  }

  /** Makes later statements read by an index that has the order of their rows. */
  async readByIndex(): Promise<void> {
    await this.send(
      'set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off',
    );
  }

  /** Ends the transaction. */
  async close(): Promise<void> {
    await this.send('rollback');
  }
}
