import { setTimeout as delay } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { DataSource, type EntityManager, QueryFailedError, type QueryRunner } from 'typeorm';
import { DomainError, reasonOf } from '../../libs/errors/src/index.js';
import { OutageLatch } from './outage-latch.js';
import { Connections } from './connections.js';
import { LoneChange, LoneChanges } from './lone-changes.js';
import { OverdueStatements } from './overdue-statements.js';
import { PreparedStatements, type TextRow, type TextStatement } from './prepared-statements.js';
import { dataSourceOf, qualified, schemaOf } from './qualified.js';
import {
  FailedWork,
  inTransaction,
  OverdueTransaction,
  type Rows,
  sent,
  transacted,
  withAffected,
  type TransactionOptions,
} from './transaction.js';
import { isOfOthers, isOfReadOnlyServer, isOfServer, isUnavailability } from './unavailability.js';

/** Milliseconds between two changes that are tried while the server takes none. */
const RETRY_PAUSE = 500;

/** The most milliseconds that a shutdown waits for statements under way. */
const LAST_WAIT = 1_000;

/** The message when the server stores commits, but not on the standby that it waits for. */
const WITHOUT_STANDBY =
  'commits wait for a synchronous standby: bring it back, or take it out of synchronous_standby_names';

/** Runs one statement that reads, or one that changes something. */
export type Statements = Pick<Database, 'query' | 'change'>;

interface ChangeOptions {
  /** The most milliseconds that the statement waits for a row that others hold, where nobody has set another limit. */
  readonly rowWait?: number;
}

/** The one door to SQL: TypeORM's DataSource. It tells an outage from a fault of ours. */
@Injectable()
export class Database implements OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(Database.name);
  private readonly away = new OutageLatch({
    begin: (reason) => this.logger.error(`database unavailable: ${reason}`),
    end: () => this.logger.log('database available again'),
  });
  /** Reads still work: the server is a standby, or its disk is full. */
  private readonly takesNoChanges = new OutageLatch({
    begin: (reason) => this.logger.error(`database takes no changes: ${reason}`),
    end: () => this.logger.log('database takes changes again'),
  });
  private readonly connections: Connections;
  private readonly overdue: OverdueStatements;
  private readonly running = new Set<Promise<unknown>>();
  /** The runners of transactions that `transact` has begun. */
  private readonly own = new WeakSet<QueryRunner>();
  private readonly statements = new PreparedStatements();
  private readonly loneChanges = new LoneChanges();
  /** When to try the next change while the server is read-only, on the clock of `performance`. */
  private nextChange: number | undefined;

  constructor(private readonly dataSource: DataSource) {
    this.connections = new Connections(dataSource);
    this.overdue = new OverdueStatements(dataSource, {
      silent: (since, error) => this.away.begin(since, reasonOf(error)),
      withoutStandby: (since) => this.takesNoChanges.begin(since, WITHOUT_STANDBY),
    });
  }

  /**
   * Runs one statement that reads. Its rows are objects by column, or texts where it says so. Throws DomainError
   * SERVICE_UNAVAILABLE where the database cannot take it now.
   */
  query<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  query(sql: TextStatement, parameters?: readonly unknown[]): Promise<TextRow[]>;
  async query(sql: TextStatement | string, parameters: readonly unknown[] = []): Promise<unknown[]> {
    const begun = performance.now();
    const rows = await this.run(
      (runner) =>
        this.overdue.watch(runner, () => this.statements.run(sql, (text) => sent(runner, text, parameters))),
      (error) => this.away.begin(begun, reasonOf(error)),
    );
    this.away.end(begun);
    // node-postgres assigns its callback to a property. V8 makes such functions old at once, and so this array stays
    // until a collection of old garbage. With the rows in it that is a tenth of what a list costs.
    return rows.splice(0);
  }

  /**
   * Runs one statement that changes something, in a READ COMMITTED transaction. Throws like `query`. While the server
   * is read-only, it throws at once. Twice a second it tries a change, on a new connection: the address may by now lead
   * to another server. Its rows are like those of `query`. Of a statement with `rowWait`, which waits for rows that
   * others may hold for as long as they like, a time limit or a deadlock says nothing about the server. A `LoneChange`
   * without `rowWait` is sent alone where the default is READ COMMITTED.
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
    { rowWait }: ChangeOptions = {},
  ): Promise<unknown[]> {
    return this.changing(rowWait, (runner) =>
      this.overdue.watch(runner, () => {
        const begun = () =>
          this.statements.run(sql, (text) => inTransaction<unknown>(runner, text, parameters, rowWait));
        if (!(sql instanceof LoneChange) || rowWait !== undefined) return begun();
        return this.loneChanges.run({
          alone: () => this.statements.run(sql.alone, (text) => sent(runner, text, parameters)),
          begun,
          level: async () => {
            // A standby answers this under SERIALIZABLE, and nothing else.
            const [row] = await sent<{ level: string }>(
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
   * Runs work in a READ COMMITTED transaction of one connection, and commits it. Throws like `change`, and what the
   * work throws. Work that takes longer than the whole limit is rolled back and left behind, with its connection:
   * SERVICE_UNAVAILABLE.
   */
  async transact<T>(work: (manager: EntityManager) => Promise<T>, options: TransactionOptions): Promise<T> {
    return this.changing(options.rowWait, async (runner) => {
      this.own.add(runner);
      try {
        return await transacted(runner, work, options, {
          watched: (statement) => this.overdue.watch(runner, statement),
          giveUp: () => this.connections.discard(runner),
        });
      } catch (error) {
        if (!(error instanceof OverdueTransaction)) throw error;
        this.logger.warn(`a transaction took more than ${options.whole} ms: it is rolled back`);
        throw new FailedWork('', { cause: unavailable(error) });
      }
    });
  }

  private async changing<T>(
    rowWait: number | undefined,
    act: (runner: QueryRunner) => Promise<T>,
  ): Promise<T> {
    const begun = performance.now();
    if (this.nextChange !== undefined) {
      if (begun < this.nextChange) throw unavailable();
      this.nextChange = begun + RETRY_PAUSE;
      this.connections.replaceAll();
    }
    const outcome = await this.run(act, (error) => {
      if (isOfReadOnlyServer(error)) this.nextChange = performance.now() + RETRY_PAUSE;
      if (rowWait !== undefined && isOfOthers(error)) return;
      if (isOfServer(error)) this.takesNoChanges.begin(begun, reasonOf(error));
      else this.away.begin(begun, reasonOf(error));
    });
    this.nextChange = undefined;
    this.away.end(begun);
    this.takesNoChanges.end(begun);
    return outcome;
  }

  /**
   * Runs statements in a transaction that the caller has begun and will end, whatever its isolation level is. Throws an
   * Error at once where there is no such transaction in this DataSource; its statements throw like `query`.
   */
  within(transaction: { readonly queryRunner?: object | undefined }): Statements {
    const runner = transaction.queryRunner as QueryRunner | undefined;
    if (!runner?.isTransactionActive) {
      throw new Error(
        'this is the manager of no open transaction: take it from dataSource.transaction(async (manager) => …)',
      );
    }
    if (dataSourceOf(runner) !== this.dataSource) {
      throw new Error('the transaction belongs to another DataSource: begin it in that of time logs');
    }
    const run = async (sql: TextStatement | string, parameters?: readonly unknown[]) => {
      if (typeof sql === 'string') return sent(runner, sql, parameters);
      // As a plain text: behind a pooler the session may not know a prepared statement, and the transaction would be
      // lost. And the host may look at what its transaction runs.
      const rows = await sent<object>(runner, sql.text, parameters);
      return withAffected(
        rows.map((row) => Object.values(row) as TextRow),
        rows.affected,
      );
    };
    const isOwn = this.own.has(runner);
    const asked = async (...statement: Parameters<typeof run>) => {
      try {
        return await (isOwn ? this.overdue.watch(runner, () => run(...statement)) : run(...statement));
      } catch (error) {
        // What ends a transaction of our own is told there.
        throw !isOwn && isUnavailability(error) ? unavailable(error) : error;
      }
    };
    return { query: asked, change: asked } as Statements;
  }

  /** Connections in the pool now, and statements that wait for one. */
  get pool(): Connections['pool'] {
    return this.connections.pool;
  }

  /** The most connections that the pool makes. */
  get poolSize(): number {
    return this.connections.most;
  }

  /** The quoted name of an entity's table, with its schema if it has one. */
  table(entity: Parameters<DataSource['getMetadata']>[0]): string {
    const { schema, tableName } = this.dataSource.getMetadata(entity);
    const parts = schema === undefined ? [tableName] : [schema, tableName];
    return parts.map((part) => this.dataSource.driver.escape(part)).join('.');
  }

  /** False for a DataSource that its app opens later by itself. */
  get isOpen(): boolean {
    return this.dataSource.isInitialized;
  }

  /** Whether an entity is registered. */
  knows(entity: Parameters<DataSource['getMetadata']>[0]): boolean {
    return this.dataSource.hasMetadata(entity);
  }

  /** The schema that the DataSource names; undefined: that of its search path. */
  get schema(): string | undefined {
    return schemaOf(this.dataSource);
  }

  /** The quoted name of a function that a migration has made. */
  routine(name: string): string {
    return qualified(this.dataSource, name);
  }

  onModuleDestroy(): void {
    this.overdue.stop();
  }

  /**
   * Waits a little for statements under way. The end of the pool cuts them, and one that nobody waits for, such as that
   * of a sweep, would be reported as an outage.
   */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.race([Promise.allSettled(this.running), delay(LAST_WAIT, undefined, { ref: false })]);
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
      runner = await this.connections.take();
      return await act(runner);
    } catch (thrown) {
      const error = thrown instanceof FailedWork ? thrown.cause : thrown;
      // Any other error of the work is its own, whatever it looks like.
      if (thrown instanceof FailedWork && !(error instanceof QueryFailedError)) throw error;
      if (!isUnavailability(error)) throw error;
      onUnavailability(error);
      // A connection that is silent or had a FATAL error may never answer again; a read-only one leads to a standby.
      if (runner && (!isOfServer(error) || isOfReadOnlyServer(error))) await this.connections.discard(runner);
      if (isOfReadOnlyServer(error)) this.connections.replaceAll();
      throw unavailable(error);
    } finally {
      await runner?.release();
    }
  }
}

function unavailable(cause?: unknown): DomainError {
  return new DomainError('SERVICE_UNAVAILABLE', undefined, { cause });
}
