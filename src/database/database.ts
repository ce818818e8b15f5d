import { setTimeout as delay } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { DataSource, type EntityManager, QueryFailedError, type QueryRunner } from 'typeorm';
import { DomainError, reasonOf } from '../../libs/errors/src/index.js';
import { AutocommitStatement, AutocommitStatements } from './autocommit.js';
import { OutageLatch } from './outage-latch.js';
import { Connections } from './connections.js';
import { OverdueStatements } from './overdue-statements.js';
import { PreparedStatements, type TextRow, type TextStatement } from './prepared-statements.js';
import { dataSourceOf, qualified, schemaOf } from './qualified.js';
import {
  type Rows,
  runInTransaction,
  sendInTransaction,
  sendQuery,
  TransactionTimeoutError,
  withAffected,
  WorkError,
  type TransactionOptions,
} from './transaction.js';
import { isConcurrencyConflict, isReadOnlyError, isServerError, isUnavailability } from './unavailability.js';

/** The interval between attempts to change something while the server is read-only. */
const RETRY_INTERVAL_MS = 500;

/** The time for which a shutdown waits for running statements. */
const SHUTDOWN_WAIT_MS = 1_000;

/** The reason that is logged if the server has written commits, but waits for a standby. */
const STANDBY_MISSING =
  'commits wait for a synchronous standby: restore it, or remove it from synchronous_standby_names';

/** Runs a statement that reads, or one that writes. */
export type Statements = Pick<Database, 'query' | 'change'>;

interface ChangeOptions {
  /** The `lock_timeout` of the statement in milliseconds, if the session has none. */
  readonly lockTimeout?: number;
}

/** Runs all SQL of the service, and distinguishes outages from errors of the service. */
@Injectable()
export class Database implements OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(Database.name);
  private readonly outage = new OutageLatch({
    begin: (reason) => this.logger.error(`database unavailable: ${reason}`),
    end: () => this.logger.log('database available again'),
  });
  /** The server accepts reads only: it is a standby, or its disk is full. */
  private readonly writeOutage = new OutageLatch({
    begin: (reason) => this.logger.error(`database takes no changes: ${reason}`),
    end: () => this.logger.log('database takes changes again'),
  });
  private readonly connections: Connections;
  private readonly overdueStatements: OverdueStatements;
  private readonly running = new Set<Promise<unknown>>();
  /** The runners of the transactions that `transact` has started. */
  private readonly ownRunners = new WeakSet<QueryRunner>();
  private readonly statements = new PreparedStatements();
  private readonly autocommit = new AutocommitStatements();
  /** The time of the next attempt to write to a read-only server (`performance.now()`). */
  private nextAttempt: number | undefined;

  constructor(private readonly dataSource: DataSource) {
    this.connections = new Connections(dataSource);
    this.overdueStatements = new OverdueStatements(dataSource, {
      onNoAnswer: (since, error) => this.outage.begin(since, reasonOf(error)),
      onMissingStandby: (since) => this.writeOutage.begin(since, STANDBY_MISSING),
    });
  }

  /**
   * Runs a statement that reads. Its rows are objects, or arrays of texts for a `TextStatement`.
   * Throws a DomainError SERVICE_UNAVAILABLE if the database cannot run it now.
   */
  query<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  query(sql: TextStatement, parameters?: readonly unknown[]): Promise<TextRow[]>;
  async query(sql: TextStatement | string, parameters: readonly unknown[] = []): Promise<unknown[]> {
    const startedAt = performance.now();
    const rows = await this.run(
      (runner) =>
        this.overdueStatements.watch(runner, () =>
          this.statements.run(sql, (text) => sendQuery(runner, text, parameters)),
        ),
      (error) => this.outage.begin(startedAt, reasonOf(error)),
    );
    this.outage.end(startedAt);
    // node-postgres keeps this array until a major GC. Emptying it saves a tenth of a list's CPU.
    return rows.splice(0);
  }

  /**
   * Runs a statement that writes, in a READ COMMITTED transaction. Returns rows and throws like
   * `query`.
   *
   * While the server is read-only, it throws at once, except for an attempt twice a second on a new
   * connection: the address may lead to another server by then.
   *
   * With `lockTimeout`, a timeout or a deadlock is not reported as an outage, because other
   * transactions may hold their locks for any time. Without it, an `AutocommitStatement` is sent
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
    { lockTimeout }: ChangeOptions = {},
  ): Promise<unknown[]> {
    return this.runChange(lockTimeout, (runner) =>
      this.overdueStatements.watch(runner, () => {
        const inTransaction = () =>
          this.statements.run(sql, (text) =>
            sendInTransaction<unknown>(runner, text, parameters, lockTimeout),
          );
        if (!(sql instanceof AutocommitStatement) || lockTimeout !== undefined) return inTransaction();
        return this.autocommit.run({
          autocommit: () =>
            this.statements.run(sql.autocommit, (text) => sendQuery(runner, text, parameters)),
          inTransaction,
          isolationLevel: async () => {
            // A standby runs no other statement under SERIALIZABLE.
            const [row] = await sendQuery<{ level: string }>(
              runner,
              `select current_setting('transaction_isolation') as level`,
            );
            return row!.level;
          },
        });
      }),
    );
  }

  /**
   * Runs work in a READ COMMITTED transaction and commits it. Throws like `change`, and the errors
   * of the work. After `timeout`, it rolls back, abandons the work and its connection, and throws
   * SERVICE_UNAVAILABLE.
   */
  async transact<T>(work: (manager: EntityManager) => Promise<T>, options: TransactionOptions): Promise<T> {
    return this.runChange(options.lockTimeout, async (runner) => {
      this.ownRunners.add(runner);
      try {
        return await runInTransaction(runner, work, options, {
          watch: (statement) => this.overdueStatements.watch(runner, statement),
          discardConnection: () => this.connections.discard(runner),
        });
      } catch (error) {
        if (!(error instanceof TransactionTimeoutError)) throw error;
        this.logger.warn(`a transaction took more than ${options.timeout} ms: it is rolled back`);
        throw new WorkError('', { cause: unavailable(error) });
      }
    });
  }

  private async runChange<T>(
    lockTimeout: number | undefined,
    act: (runner: QueryRunner) => Promise<T>,
  ): Promise<T> {
    const startedAt = performance.now();
    if (this.nextAttempt !== undefined) {
      if (startedAt < this.nextAttempt) throw unavailable();
      this.nextAttempt = startedAt + RETRY_INTERVAL_MS;
      this.connections.replaceAll();
    }
    const outcome = await this.run(act, (error) => {
      if (isReadOnlyError(error)) this.nextAttempt = performance.now() + RETRY_INTERVAL_MS;
      if (lockTimeout !== undefined && isConcurrencyConflict(error)) return;
      if (isServerError(error)) this.writeOutage.begin(startedAt, reasonOf(error));
      else this.outage.begin(startedAt, reasonOf(error));
    });
    this.nextAttempt = undefined;
    this.outage.end(startedAt);
    this.writeOutage.end(startedAt);
    return outcome;
  }

  /**
   * Returns a runner of statements in an open transaction of the caller, at any isolation level.
   * Throws an Error if the transaction is not open or belongs to another DataSource. The statements
   * throw like `query`.
   */
  within(transaction: { readonly queryRunner?: object | undefined }): Statements {
    const runner = transaction.queryRunner as QueryRunner | undefined;
    if (!runner?.isTransactionActive) {
      throw new Error(
        'the manager has no open transaction: use that of dataSource.transaction(async (manager) => …)',
      );
    }
    if (dataSourceOf(runner) !== this.dataSource) {
      throw new Error(
        'the transaction belongs to another DataSource: start it in the DataSource of time logs',
      );
    }
    const run = async (sql: TextStatement | string, parameters?: readonly unknown[]) => {
      if (typeof sql === 'string') return sendQuery(runner, sql, parameters);
      // Not prepared: behind a pooler, a session that does not know the prepared statement would
      // abort the transaction. As plain text, the host can also log the statements of its
      // transaction.
      const rows = await sendQuery<object>(runner, sql.text, parameters);
      return withAffected(
        rows.map((row) => Object.values(row) as TextRow),
        rows.affected,
      );
    };
    const isOwn = this.ownRunners.has(runner);
    const runStatement = async (...statement: Parameters<typeof run>) => {
      try {
        return await (isOwn
          ? this.overdueStatements.watch(runner, () => run(...statement))
          : run(...statement));
      } catch (error) {
        // `transact` reports an outage that ends a transaction of its own.
        throw !isOwn && isUnavailability(error) ? unavailable(error) : error;
      }
    };
    return { query: runStatement, change: runStatement } as Statements;
  }

  /** The number of connections in the pool, and of statements that wait for one. */
  get pool(): Connections['pool'] {
    return this.connections.pool;
  }

  /** The maximum number of connections in the pool. */
  get poolSize(): number {
    return this.connections.max;
  }

  /** Returns the quoted name of an entity's table, with its schema if it has one. */
  table(entity: Parameters<DataSource['getMetadata']>[0]): string {
    const { schema, tableName } = this.dataSource.getMetadata(entity);
    const parts = schema === undefined ? [tableName] : [schema, tableName];
    return parts.map((part) => this.dataSource.driver.escape(part)).join('.');
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

  /** Returns the quoted name of a function that a migration has created. */
  routine(name: string): string {
    return qualified(this.dataSource, name);
  }

  onModuleDestroy(): void {
    this.overdueStatements.stop();
  }

  /**
   * Waits briefly for running statements. Closing the pool interrupts them, and the error of a
   * background statement would be logged as an outage.
   */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.race([
      Promise.allSettled(this.running),
      delay(SHUTDOWN_WAIT_MS, undefined, { ref: false }),
    ]);
  }

  private run<T>(...statement: Parameters<typeof this.runOne<T>>): Promise<T> {
    const running = this.runOne(...statement);
    this.running.add(running);
    return running.finally(() => this.running.delete(running));
  }

  private async runOne<T>(
    act: (runner: QueryRunner) => Promise<T>,
    onUnavailability: (error: unknown) => void,
  ): Promise<T> {
    let runner: QueryRunner | undefined;
    try {
      runner = await this.connections.acquire();
      return await act(runner);
    } catch (thrown) {
      const error = thrown instanceof WorkError ? thrown.cause : thrown;
      // An error of the work that is not about a query is never an outage, whatever it looks like.
      if (thrown instanceof WorkError && !(error instanceof QueryFailedError)) throw error;
      if (!isUnavailability(error)) throw error;
      onUnavailability(error);
      // After a FATAL error or no answer a connection is unusable; a read-only one is to a standby.
      if (runner && (!isServerError(error) || isReadOnlyError(error))) await this.connections.discard(runner);
      if (isReadOnlyError(error)) this.connections.replaceAll();
      throw unavailable(error);
    } finally {
      await runner?.release();
    }
  }
}

function unavailable(cause?: unknown): DomainError {
  return new DomainError('SERVICE_UNAVAILABLE', undefined, { cause });
}
