import { setTimeout as delay } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { DataSource, type EntityManager, QueryFailedError, type QueryRunner } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { DomainError } from '../../libs/errors/src/index.js';
import { type Meter, MetricsSource } from '../../libs/measures/src/index.js';
import { Outages } from './outages.js';
import { explainPooler, isBehindPooler } from './pooler.js';
import { dataSourceOf, qualified, schemaOf } from './qualified.js';
import { Snapshot } from './snapshot.js';
import type { PreparedStatement, ReadLimit, Statement, TextRow, TextStatement } from './statements.js';
import { runInTransaction, runWithin, WorkError } from './transaction.js';
import { isReadOnlyError, isServerError, isTimeout, isUnavailability } from './unavailability.js';

/** The time for which a shutdown waits for running statements, and the interval of its checks. */
const SHUTDOWN_WAIT_MS = 1_000;
const SHUTDOWN_POLL_MS = 10;

/** The methods that run a statement: one that reads, and one that writes. */
export type Statements = Pick<Database, 'query' | 'change'>;

/** The parts of a node-postgres client that are used here. */
interface Client {
  query(config: object): Promise<{ readonly rows: unknown[] }>;
  on(event: 'error', listener: () => void): void;
  end(): Promise<void>;
}
/** The options of a DataSource that are used here. */
interface UsedOptions {
  readonly url?: string;
  readonly extra?: { readonly deadline?: number };
}
/** The options of node-postgres that a statement sets. */
type StatementOptions = Pick<TextStatement, 'text'> & Partial<PreparedStatement>;
/** Returns a connection to the pool, which closes it if there is an error. */
type Release = (error?: unknown) => void;

/**
 * Runs all SQL of time logs on the connections of a DataSource, and distinguishes outages from errors of the service.
 * Isolation, durability and the limits of the server are settings of the session: `connectionOptions` sets them.
 */
@Injectable()
export class Database extends MetricsSource implements BeforeApplicationShutdown {
  private readonly outages = new Outages();
  /** The number of statements and transactions that are running or wait for a connection. */
  private running = 0;
  /** The connections of the running statements. */
  private readonly busy = new Set<Client>();
  /** Connections of an earlier generation are closed: they may lead to a server that is a standby now. */
  private generation = 0;
  private readonly generations = new WeakMap<Client, number>();
  /** The time after which the driver gives up a statement; undefined: never. */
  private readonly deadlineMs: number | undefined;
  private readonly prepares: boolean;
  /** The runners of the transactions that `transact` has started. */
  private readonly ownRunners = new WeakSet<QueryRunner>();
  private pendingPing: Promise<unknown> | undefined;

  constructor(private readonly dataSource: DataSource) {
    super();
    const { extra, url } = dataSource.options as UsedOptions;
    this.deadlineMs = extra?.deadline;
    this.prepares = !isBehindPooler(url);
  }

  /**
   * Runs a statement that reads. Its rows are objects, or arrays of texts for a `TextStatement`.
   * Throws a DomainError SERVICE_UNAVAILABLE if the database cannot run it now, or within a limit.
   */
  query<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  query(sql: TextStatement, parameters?: readonly unknown[], limit?: ReadLimit): Promise<TextRow[]>;
  async query(sql: Statement, parameters?: readonly unknown[], limit?: ReadLimit): Promise<unknown[]> {
    const { rows } = await this.run(false, () =>
      this.send(sql, parameters, limit?.timeoutMs).catch((error: unknown) => {
        if (!limit || !isTimeout(error)) throw error;
        // No outage: the statement alone is too costly.
        throw new WorkError(new DomainError('SERVICE_UNAVAILABLE', limit.message, { cause: error }));
      }),
    );
    // The driver keeps this array until a major garbage collection: emptying it saves a tenth of a list's CPU.
    return rows.splice(0);
  }

  /**
   * Runs a statement that writes, and returns its rows. Throws like `query`. While the server is read-only, it throws
   * at once, except for an attempt twice a second on a new connection: the address may lead to another server by then.
   */
  change<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  change(sql: TextStatement, parameters?: readonly unknown[]): Promise<TextRow[]>;
  async change(sql: Statement, parameters?: readonly unknown[]): Promise<unknown[]> {
    return (await this.run(true, () => this.send(sql, parameters))).rows;
  }

  /** Runs one statement for all concurrent health checks, which may come without a token. Throws like `query`. */
  async ping(): Promise<void> {
    this.pendingPing ??= this.query('select 1').finally(() => (this.pendingPing = undefined));
    await this.pendingPing;
  }

  /**
   * Runs work in a READ COMMITTED transaction and commits it. Throws like `change`, and the errors of the work. After
   * the timeout it abandons the work and its connection, and throws SERVICE_UNAVAILABLE.
   */
  transact<T>(work: (manager: EntityManager) => Promise<T>, timeoutMs: number): Promise<T> {
    return this.run(true, () =>
      this.withRunner((runner) => {
        this.ownRunners.add(runner);
        return runInTransaction(runner, work, timeoutMs);
      }),
    );
  }

  /**
   * Runs work that reads one snapshot of the database, with a limit for each statement. TRUNCATE and
   * migrations of the table, which has a quoted name, wait for its end. Throws like `query`, and the
   * errors of the work, after which its connection is closed: a statement may still be running.
   */
  read<T>(table: string, limit: ReadLimit, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    return this.run(false, async () => {
      const [client, release] = await this.connect();
      try {
        const snapshot = await Snapshot.begin((...args) => this.sendOn(client, ...args), table, limit);
        const outcome = await work(snapshot).catch((error: unknown) => {
          throw new WorkError(error);
        });
        await snapshot.close();
        release();
        return outcome;
      } catch (error) {
        release(error);
        throw error;
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
    const query = (sql: Statement, parameters?: readonly unknown[]) =>
      runWithin(runner, sql, parameters).catch((error: unknown) => {
        // `transact` reports an outage that ends a transaction of its own.
        throw isUnavailability(error) && !this.ownRunners.has(runner) ? unavailable(error) : error;
      });
    return { query, change: query } as Statements;
  }

  /** The pool: the limit and the number of its connections, and the statements that wait for one. */
  get pool() {
    // A DataSource that is closed has no pool.
    const pool = this.driver.master as Pool | undefined;
    const { options, totalCount = 0, idleCount = 0, waitingCount = 0 } = pool ?? {};
    return { max: options?.max ?? 0, total: totalCount, idle: idleCount, waiting: waitingCount };
  }

  override registerMetrics(meter: Meter): void {
    meter.gauge('database_pool_connections', 'Connections of the pool.', () => this.pool.total);
    meter.gauge(
      'database_pool_idle_connections',
      'Connections of the pool that are idle.',
      () => this.pool.idle,
    );
    meter.gauge(
      'database_pool_waiting_statements',
      'Statements that wait for a connection of the pool.',
      () => this.pool.waiting,
    );
  }

  /** Returns the quoted name of an entity's table, with its schema if it has one. */
  table(entity: Parameters<DataSource['getMetadata']>[0]): string {
    const { schema, tableName } = this.dataSource.getMetadata(entity);
    const parts = schema === undefined ? [tableName] : [schema, tableName];
    return parts.map((part) => this.driver.escape(part)).join('.');
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
   * Waits briefly for running statements, when all requests have been answered: the error of an interrupted one would
   * be logged as an outage. Then closes their connections, for which the pool would wait.
   */
  async beforeApplicationShutdown(): Promise<void> {
    const end = performance.now() + SHUTDOWN_WAIT_MS;
    while (this.running > 0 && performance.now() < end) await delay(SHUTDOWN_POLL_MS);
    for (const client of this.busy) client.end().catch(() => undefined);
  }

  private get driver(): PostgresDriver {
    return this.dataSource.driver as PostgresDriver;
  }

  /** Runs a statement or a transaction, and records whether the database was available. */
  private async run<T>(isChange: boolean, act: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    if (isChange && this.outages.isReadOnly) {
      if (!this.outages.attempt(startedAt)) throw unavailable();
      this.generation++;
    }
    this.running++;
    try {
      const outcome = await act();
      this.outages.end(startedAt, isChange);
      return outcome;
    } catch (thrown) {
      const error = thrown instanceof WorkError ? thrown.cause : thrown;
      if (isReadOnlyError(error)) this.generation++;
      // An error of the work that is not about a query is never an outage, whatever it looks like.
      if (thrown instanceof WorkError && !(error instanceof QueryFailedError)) throw error;
      if (!isUnavailability(error)) throw explainPooler(error);
      this.outages.begin(startedAt, error, isChange);
      throw unavailable(error);
    } finally {
      this.running--;
    }
  }

  /**
   * Sends a statement on a connection of TypeORM's driver: a query runner for each would take a third of the time of a
   * list. Closes the connection if the driver gave up the statement, whose late result the next one would receive.
   */
  private async send(sql: Statement, parameters?: readonly unknown[], timeoutMs?: number) {
    const [client, release] = await this.connect();
    try {
      const result = await this.sendOn(client, sql, parameters, timeoutMs);
      release();
      return result;
    } catch (error) {
      release(isServerError(error) && !isReadOnlyError(error) ? undefined : error);
      throw error;
    }
  }

  private async sendOn(
    client: Client,
    sql: Statement,
    parameters: readonly unknown[] = [],
    timeoutMs = this.deadlineMs,
  ) {
    const { text, rowMode, types, name }: StatementOptions = typeof sql === 'string' ? { text: sql } : sql;
    this.dataSource.logger.logQuery(text, parameters as unknown[]);
    this.busy.add(client);
    try {
      return await client.query({
        text,
        rowMode,
        types,
        name: this.prepares ? name : undefined,
        values: parameters,
        query_timeout: timeoutMs,
      });
    } catch (cause) {
      throw new QueryFailedError(text, undefined, cause as Error);
    } finally {
      this.busy.delete(client);
    }
  }

  private async connect(): Promise<[Client, Release]> {
    for (;;) {
      const [client, release] = (await this.driver.obtainMasterConnection()) as [Client, Release];
      if (this.isCurrent(client)) return [client, release];
      release(true);
    }
  }

  private async withRunner<T>(act: (runner: QueryRunner) => Promise<T>): Promise<T> {
    for (;;) {
      const runner = this.dataSource.createQueryRunner();
      try {
        const client = (await runner.connect()) as Client;
        if (this.isCurrent(client)) return await act(runner);
        client.end().catch(() => undefined);
      } finally {
        await runner.release();
      }
    }
  }

  private isCurrent(client: Client): boolean {
    const generation = this.generations.get(client);
    if (generation !== undefined) return generation === this.generation;
    this.generations.set(client, this.generation);
    // The statement that runs rejects with the same error. Without a listener it would end the process.
    client.on('error', () => undefined);
    return true;
  }
}

function unavailable(cause?: unknown): DomainError {
  return new DomainError('SERVICE_UNAVAILABLE', undefined, { cause });
}
