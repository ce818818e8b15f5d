import { setTimeout as delay } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { Pool } from 'pg';
import {
  DataSource,
  type EntityManager,
  QueryFailedError,
  type QueryRunner,
  type ReplicationMode,
} from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { DomainError, reasonOf } from '../../libs/errors/src/index.js';
import { Connections } from './connections.js';
import { Outages } from './outages.js';
import { dataSourceOf, qualified, schemaOf } from './qualified.js';
import { Snapshot, type Watch } from './snapshot.js';
import {
  type ChangeOptions,
  type ReadLimit,
  type Rows,
  StatementSender,
  type TextRow,
  type TextStatement,
} from './statements.js';
import {
  runInTransaction,
  runWithin,
  TransactionTimeoutError,
  type TransactionOptions,
  WorkError,
} from './transaction.js';
import {
  isCanceled,
  isConcurrencyConflict,
  isReadOnlyError,
  isServerError,
  isUnavailability,
} from './unavailability.js';

/** The time for which a shutdown waits for running statements, and the interval of its checks. */
const SHUTDOWN_WAIT_MS = 1_000;
const SHUTDOWN_POLL_MS = 10;

/** The methods that run a statement: one that reads, and one that writes. */
export type Statements = Pick<Database, 'query' | 'change'>;

/** Runs all SQL of the service, and distinguishes outages from errors of the service. */
@Injectable()
export class Database implements BeforeApplicationShutdown {
  private readonly logger = new Logger(Database.name);
  /**
   * The database for reads that need not see the last change of their caller: this one, or with `readReplica` one over
   * the replicas of the DataSource, whose outages are separate.
   */
  readonly replica: Database;
  private readonly outages: Outages;
  private readonly connections: Connections;
  private readonly sender = new StatementSender();
  /** The statements and transactions that are running or wait for a connection. */
  private readonly running = new Set<unknown>();
  /** The runners of the transactions that `transact` has started. */
  private readonly ownRunners = new WeakSet<QueryRunner>();
  private pendingPing: Promise<unknown> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    { readReplica = false }: { readonly readReplica?: boolean | undefined } = {},
    mode: ReplicationMode = 'master',
  ) {
    this.outages = new Outages(mode === 'slave' ? 'read replica' : 'database');
    this.connections = new Connections(
      dataSource,
      {
        onNoAnswer: (since, error) => this.outages.begin(since, error),
        onMissingStandby: (since) => this.outages.missStandby(since),
      },
      mode,
    );
    this.replica = readReplica ? new Database(dataSource, {}, 'slave') : this;
  }

  /**
   * Runs a statement that reads. Its rows are objects, or arrays of texts for a `TextStatement`.
   * Throws a DomainError SERVICE_UNAVAILABLE if the database cannot run it now, or within a limit.
   */
  query<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  query(sql: TextStatement, parameters?: readonly unknown[], limit?: ReadLimit): Promise<TextRow[]>;
  async query(
    sql: TextStatement | string,
    parameters: readonly unknown[] = [],
    limit?: ReadLimit,
  ): Promise<unknown[]> {
    const rows = await this.run((runner) =>
      this.connections.watch(runner, () =>
        limit === undefined
          ? this.sender.send(runner, sql, parameters)
          : this.sender.sendChange(runner, sql, parameters, limit).catch((error: unknown) => {
              // No outage: the statement alone is too costly.
              const cause = new DomainError('SERVICE_UNAVAILABLE', limit.message, { cause: error });
              throw isCanceled(error) ? new WorkError('', { cause }) : error;
            }),
      ),
    );
    // node-postgres keeps this array until a major GC. Emptying it saves a tenth of a list's CPU.
    return rows.splice(0);
  }

  /** Runs one statement for all concurrent health checks, which may come without a token. Throws like `query`. */
  async ping(): Promise<void> {
    this.pendingPing ??= this.query('select 1').finally(() => (this.pendingPing = undefined));
    await this.pendingPing;
  }

  /**
   * Runs a statement that writes, in a READ COMMITTED transaction. Returns rows and throws like
   * `query`.
   *
   * While the server is read-only, it throws at once, except for an attempt twice a second on a new
   * connection: the address may lead to another server by then.
   *
   * With `lockTimeout`, a timeout or a deadlock is not reported as an outage, because other
   * transactions may hold their locks for any time. Without timeouts, an `AutocommitStatement` is sent
   * without BEGIN if the default isolation level is READ COMMITTED.
   */
  change<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  change(
    sql: TextStatement,
    parameters?: readonly unknown[],
    options?: ChangeOptions,
  ): Promise<Rows<TextRow>>;
  async change(
    sql: TextStatement | string,
    parameters: readonly unknown[] = [],
    options: ChangeOptions = {},
  ): Promise<unknown[]> {
    return this.run(
      (runner) =>
        this.connections.watch(runner, () => this.sender.sendChange(runner, sql, parameters, options)),
      options,
    );
  }

  /**
   * Runs work in a READ COMMITTED transaction and commits it. Throws like `change`, and the errors
   * of the work. After `timeout`, it rolls back, abandons the work and its connection, and throws
   * SERVICE_UNAVAILABLE.
   */
  async transact<T>(work: (manager: EntityManager) => Promise<T>, options: TransactionOptions): Promise<T> {
    return this.run(async (runner) => {
      this.ownRunners.add(runner);
      try {
        return await runInTransaction(runner, work, options, this.connections);
      } catch (error) {
        const cause = error instanceof WorkError ? error.cause : error;
        if (isCanceled(cause))
          this.logger.warn(
            `a statement in a transaction took too long, so it is rolled back: ${reasonOf(cause)}`,
          );
        if (!(error instanceof TransactionTimeoutError)) throw error;
        this.logger.warn(`a transaction took more than ${options.timeout} ms: it is rolled back`);
        throw new WorkError('', { cause: unavailable(error) });
      }
    }, options);
  }

  /**
   * Runs work that reads one snapshot of the database, with a limit for each statement. TRUNCATE and
   * migrations of the table, which has a quoted name, wait for its end. Throws like `query`, and the
   * errors of the work, after which its connection is closed: a statement may still be running.
   */
  async read<T>(table: string, limit: ReadLimit, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    return this.run(async (runner) => {
      const watch: Watch = (statement) => this.connections.watch(runner, statement);
      try {
        const snapshot = await Snapshot.begin(runner, table, limit, watch);
        const outcome = await work(snapshot).catch((error: unknown) => {
          throw new WorkError('', { cause: error });
        });
        await snapshot.close();
        return outcome;
      } catch (error) {
        await this.connections.discard(runner);
        // Others hold the lock of the table.
        throw isConcurrencyConflict(error) ? new WorkError('', { cause: unavailable(error) }) : error;
      }
    });
  }

  /**
   * Returns the methods for statements in an open transaction of the caller, at any isolation level.
   * Throws an Error if the transaction is not open or belongs to another DataSource. The statements
   * throw like `query`.
   */
  within(transaction: { readonly queryRunner?: object | undefined }): Statements {
    const runner = transaction.queryRunner as QueryRunner | undefined;
    if (!runner?.isTransactionActive)
      throw new Error(
        'the manager has no open transaction: use that of dataSource.transaction(async (manager) => …)',
      );
    if (dataSourceOf(runner) !== this.dataSource)
      throw new Error(
        'the transaction belongs to another DataSource: start it in the DataSource of time logs',
      );
    const isOwn = this.ownRunners.has(runner);
    const run = async (sql: TextStatement | string, parameters?: readonly unknown[]) => {
      try {
        return await (isOwn
          ? this.connections.watch(runner, () => runWithin(runner, sql, parameters))
          : runWithin(runner, sql, parameters));
      } catch (error) {
        // `transact` reports an outage that ends a transaction of its own.
        throw !isOwn && isUnavailability(error) ? unavailable(error) : error;
      }
    };
    return { query: run, change: run } as Statements;
  }

  /** The pool: the limit and the number of its connections, and the statements that wait for one. */
  get pool(): {
    readonly max: number;
    readonly total: number;
    readonly idle: number;
    readonly waiting: number;
  } {
    // A DataSource that is closed has no pool.
    const pool = (this.dataSource.driver as PostgresDriver).master as Pool | undefined;
    const { options, totalCount = 0, idleCount = 0, waitingCount = 0 } = pool ?? {};
    return { max: options?.max ?? 0, total: totalCount, idle: idleCount, waiting: waitingCount };
  }

  /** Returns the quoted name of an entity's table, with its schema if it has one. */
  table(entity: Parameters<DataSource['getMetadata']>[0]): string {
    const { schema, tableName } = this.dataSource.getMetadata(entity);
    const parts = schema === undefined ? [tableName] : [schema, tableName];
    return parts.map((part) => this.dataSource.driver.escape(part)).join('.');
  }

  /** Returns the quoted name of a function that a migration has created. */
  routine(name: string): string {
    return qualified(this.dataSource, name);
  }

  /** Whether the DataSource is connected. A host application may connect it later. */
  get isOpen(): boolean {
    return this.dataSource.isInitialized;
  }

  /** Returns whether an entity is registered. */
  knows(entity: Parameters<DataSource['getMetadata']>[0]): boolean {
    return this.dataSource.hasMetadata(entity);
  }

  /** The schema of the DataSource; undefined means the first one of the search path. */
  get schema(): string | undefined {
    return schemaOf(this.dataSource);
  }

  /**
   * Waits briefly for running statements, when all requests have been answered. Closing the pool interrupts them, and
   * the error of a background statement would be logged as an outage.
   */
  async beforeApplicationShutdown(): Promise<void> {
    this.connections.stop();
    this.replica.connections.stop();
    const end = performance.now() + SHUTDOWN_WAIT_MS;
    const sets = [this.running, this.replica.running];
    const running = sets.flatMap((set) => [...set]);
    while (running.some((act) => sets.some((set) => set.has(act))) && performance.now() < end)
      await delay(SHUTDOWN_POLL_MS);
  }

  /** Runs a statement or a transaction. A change has options, which may be empty. */
  private async run<T>(act: (runner: QueryRunner) => Promise<T>, change?: ChangeOptions): Promise<T> {
    const startedAt = performance.now();
    if (change && this.outages.isReadOnly) {
      if (!this.outages.attempt(startedAt)) throw unavailable();
      this.connections.replaceAll();
    }
    let runner: QueryRunner | undefined;
    this.running.add(act);
    try {
      runner = await this.connections.acquire();
      const outcome = await act(runner);
      this.outages.end(startedAt, change !== undefined);
      return outcome;
    } catch (thrown) {
      const error = thrown instanceof WorkError ? thrown.cause : thrown;
      // An error of the work that is not about a query is never an outage, whatever it looks like.
      if (thrown instanceof WorkError && !(error instanceof QueryFailedError)) throw error;
      if (!isUnavailability(error)) throw error;
      this.outages.begin(startedAt, error, change);
      // After a FATAL error or no answer a connection is unusable; a read-only one is to a standby.
      if (runner && (!isServerError(error) || isReadOnlyError(error))) await this.connections.discard(runner);
      if (isReadOnlyError(error)) this.connections.replaceAll();
      throw unavailable(error);
    } finally {
      await runner?.release();
      this.running.delete(act);
    }
  }
}

function unavailable(cause?: unknown): DomainError {
  return new DomainError('SERVICE_UNAVAILABLE', undefined, { cause });
}
