import { type CopyToStreamQuery, to as copyTo } from 'pg-copy-streams';
import type { ClientBase } from 'pg';
import { QueryFailedError, type QueryRunner } from 'typeorm';
import { DomainError } from '../../libs/errors/src/index.js';
import { type ReadLimit, sendQuery, type TextRow, type TextStatement } from './statements.js';
import { isCanceled, isUnavailability } from './unavailability.js';

/** The time that the transaction waits for the lock of its table: shorter than any deadline. */
const LOCK_TIMEOUT_MS = 1_000;
/** The longest timer of Node. The driver would drop a COPY after the `query_timeout` of a host. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
/** The time after which a COPY that has begun ends if the server, which may be frozen, sends nothing. */
const MAX_SILENCE_MS = 30_000;

/** The texts of values are the same on every server, and no timeout of the session ends the transaction. */
const SETTINGS = `
  set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0;
  set local datestyle = 'ISO'; set local extra_float_digits = 1; set local standard_conforming_strings = on;
  set local jit = off; set local max_parallel_workers_per_gather = 0;
  set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off`;
/** PostgreSQL 15 and 16 do not have this setting. */
const NO_TRANSACTION_TIMEOUT = `
  select set_config(name, '0', true) from pg_settings where name = 'transaction_timeout'`;

/** The parts of a node-postgres client that are used here. */
type Client = ClientBase & {
  /** Whether it sends statements without waiting for earlier ones. COPY is refused then. */
  pipeline?: boolean;
};

/** A statement with the timeout of the driver. The callback, which the driver sets, ends it. */
interface Timed {
  readonly query_timeout: number;
  readonly callback?: () => void;
}

/** Runs a short statement, and closes its connection if the server is lost. */
export type Watch = <T>(statement: () => Promise<T>) => Promise<T>;

/** A transaction that reads one moment of the database, for as long as it takes. */
export class Snapshot {
  private isCopying = false;

  private constructor(
    private readonly runner: QueryRunner,
    private readonly client: Client,
    private readonly isPipelined: boolean,
    private readonly watch: Watch,
  ) {}

  /** Begins it on the connection of a runner, with a lock of a table, which has a quoted name. */
  static async begin(runner: QueryRunner, table: string, watch: Watch): Promise<Snapshot> {
    const client = (await runner.connect()) as Client;
    const snapshot = new Snapshot(runner, client, client.pipeline ?? false, watch);
    if (snapshot.isPipelined) client.pipeline = false;
    // TRUNCATE ignores snapshots, so the lock comes before the first statement that takes one.
    await snapshot.query(
      `begin isolation level repeatable read read only; set local lock_timeout = ${LOCK_TIMEOUT_MS};
       lock table ${table} in access share mode; ${SETTINGS}`,
    );
    await snapshot.query(NO_TRANSACTION_TIMEOUT);
    return snapshot;
  }

  /** Runs a statement that reads. Throws the errors of the driver. */
  query<Row>(sql: string): Promise<Row[]>;
  query(sql: TextStatement): Promise<TextRow[]>;
  async query(sql: TextStatement | string): Promise<unknown[]> {
    return this.watch(() => sendQuery(this.runner, sql));
  }

  /** Runs a statement that may be costly. Throws DomainError SERVICE_UNAVAILABLE if it takes longer than the limit. */
  async queryWithin<Row>(sql: string, { timeout, message }: ReadLimit): Promise<Row[]> {
    await this.query(`set local statement_timeout = ${timeout}`);
    const rows = await this.query<Row>(sql).catch((error: unknown) => {
      throw isCanceled(error) ? new DomainError('SERVICE_UNAVAILABLE', message, { cause: error }) : error;
    });
    await this.query('set local statement_timeout = 0');
    return rows;
  }

  /** Returns a text as a literal: COPY takes no parameters. */
  literal(text: string): string {
    return this.client.escapeLiteral(text);
  }

  /**
   * Yields the bytes of `COPY … TO STDOUT`. The signal ends it at once, like the end of the iteration. Throws
   * DomainError SERVICE_UNAVAILABLE if the database ends it or falls silent, and the reason of the signal.
   */
  async *copy(sql: string, signal?: AbortSignal): AsyncGenerator<Uint8Array, undefined> {
    signal?.throwIfAborted();
    const rows: CopyToStreamQuery & Timed = Object.assign(copyTo(sql), { query_timeout: NO_TIMEOUT_MS });
    const stop = () => {
      this.end();
      rows.destroy(signal!.reason as Error);
    };
    // The stream must not read the connection after an error. Without a listener it would end the process.
    rows.on('error', () => this.end());
    signal?.addEventListener('abort', stop);
    let silence: NodeJS.Timeout | undefined;
    const endSilence = () => rows.destroy(new Error('the database has sent nothing for 30 s'));
    this.isCopying = true;
    try {
      for await (const bytes of this.client.query(rows) as AsyncIterable<Uint8Array>) {
        clearTimeout(silence);
        yield bytes;
        silence = setTimeout(endSilence, MAX_SILENCE_MS);
      }
      this.isCopying = false;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      const failure =
        error instanceof Error && 'severity' in error ? new QueryFailedError(sql, [], error) : error;
      throw isUnavailability(failure)
        ? new DomainError('SERVICE_UNAVAILABLE', undefined, { cause: error })
        : failure;
    } finally {
      clearTimeout(silence);
      signal?.removeEventListener('abort', stop);
      rows.callback?.();
      if (this.isCopying) this.end();
    }
  }

  /** Ends the transaction. Its connection is closed if it is not idle afterwards, which ends a COPY at once. */
  async close(): Promise<void> {
    if (this.isCopying) return;
    await this.query('rollback').catch(() => this.end());
    if (this.isPipelined) this.client.pipeline = true;
  }

  /** Closes the connection without a wait: it is not pipelined. */
  private end(): void {
    (this.client as { end?: () => Promise<void> }).end?.().catch(() => undefined);
  }
}
