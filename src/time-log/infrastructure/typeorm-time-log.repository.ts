import { Inject, Injectable, Optional } from '@nestjs/common';
import {
  Batcher,
  type BatcherLimits,
  FairQueue,
  type MeasurableBatcher,
} from '../../../libs/batching/src/index.js';
import {
  Database,
  isRowError,
  isUndefinedFunction,
  AutocommitStatement,
  PreparedStatement,
  type Statements,
  type TextRow,
  TextStatement,
  type TransactionOptions,
} from '../../database/index.js';
import type { ProjectAccess } from '../domain/project-access.js';
import { TimeLogAttributes } from '../domain/attributes.js';
import type { IdempotencyKey } from '../domain/idempotency-key.js';
import type { PageRequest } from '../domain/page-request.js';
import {
  type TimeLogFilter,
  type TimeLogPage,
  TimeLogRepository,
  type TimeLogWrites,
} from '../domain/time-log.repository.js';
import type { TimeLogItems } from '../domain/time-log-item.js';
import { TimeLog } from '../domain/time-log.js';
import type { TransactionHandle } from '../domain/transaction-handle.js';
import { TIME_LOG_LIMITS } from '../time-log.limits.js';
import { lockTimeoutOf, TimeLogCorrections } from './time-log-corrections.js';
import { CostlyReads, type ReadCost } from './costly-reads.js';
import { KeyedTimeLogWrites } from './keyed-time-log-writes.js';
import { TimeLogRows } from './time-log-rows.js';
import { timeLogEntities } from './time-log.entities.js';
import { mapChangeError, mapInsertError, NotStoredError, schemaTakenError } from './storage-errors.js';
import { TimeLogKey } from './time-log-key.entity.js';
import { TimeLogSweep } from './time-log-sweep.js';
import { accessCondition, accessParameter, projectsOf } from './access-condition.js';

/** The optional provider of `WriteLimits`: `wait` is in milliseconds. */
export const WRITE_LIMITS = Symbol.for('time-logs.WRITE_LIMITS');
export type WriteLimits = Pick<BatcherLimits, 'queue' | 'wait'>;

/** The database functions that this class, the sweep, the totals and the feed call. */
const ROUTINES = [
  'page_time_logs',
  'fold_time_log_counts',
  'keep_time_log_positions',
  'sum_time_logs',
  'page_time_log_project_sums',
  'page_time_log_period_sums',
  'time_log_events',
];
/** The maximum number of logs in one statement. */
const MAX_BATCH_LOGS = 200;
/** The maximum numbers of logs and of rows of counts that a cheap page skips or reads. */
const CHEAP_PAGE = { logs: 5_000, rows: 1_000 };
/** The share of the pool for single changes, and the same share for lookups of single logs. */
const POOL_SHARE = 0.5;

/** Stores time logs in PostgreSQL. Logs that arrive during a write share commits. */
@Injectable()
export class TypeOrmTimeLogRepository extends TimeLogRepository {
  /** Shared with the repositories of totals and of the feed. */
  readonly rows: TimeLogRows;
  readonly sweep: TimeLogSweep;
  readonly reads: CostlyReads;
  private readonly writes: Batcher<TimeLog, undefined>;
  private readonly keyedWrites: KeyedTimeLogWrites;
  private readonly corrections: TimeLogCorrections;
  private readonly lookups: FairQueue;
  private readonly changes: FairQueue;
  private readonly transactions: TransactionOptions;
  private page: PreparedStatement | undefined;
  private insertion: AutocommitStatement | undefined;

  constructor(
    readonly database: Database,
    @Optional()
    @Inject(WRITE_LIMITS)
    { queue, wait }: WriteLimits = { queue: TIME_LOG_LIMITS.writeQueue, wait: TIME_LOG_LIMITS.deadline },
    @Optional()
    private readonly attributes: TimeLogAttributes = new TimeLogAttributes(),
  ) {
    super();
    const rows = new TimeLogRows(attributes.areKnown);
    this.rows = rows;
    const limits = { batch: MAX_BATCH_LOGS, queue, wait };
    this.writes = new Batcher((logs) => this.insert(logs), limits, isRowError);
    this.sweep = new TimeLogSweep(database);
    this.reads = new CostlyReads(database, limits);
    const share = () => Math.floor(POOL_SHARE * database.pool.max) || 1;
    this.lookups = new FairQueue(limits, share);
    this.changes = new FairQueue(limits, share);
    this.corrections = new TimeLogCorrections(database, rows, limits);
    this.transactions = {
      lockTimeout: lockTimeoutOf(limits),
      timeout: wait,
      mapCommitError: (error) => mapChangeError(error, this.table),
    };
    this.keyedWrites = new KeyedTimeLogWrites(database, rows, this.sweep, limits, () => this.recorded());
  }

  /**
   * Makes new feed positions greater than all earlier ones, also of another server. Runs before the
   * first write. Throws DomainError SERVICE_UNAVAILABLE, or an Error that says what to do.
   */
  async keepPositions(): Promise<void> {
    if (!this.database.isOpen) return;
    await this.database
      .change(`select ${this.database.routine('keep_time_log_positions')}()`)
      .catch((error: unknown) => {
        // The host migrates later, so all positions will come from this server.
        if (!isUndefinedFunction(error)) throw error;
      });
  }

  /** Throws an Error that says what to do if entities, tables or functions are missing. */
  async requireTables(): Promise<void> {
    const { database } = this;
    if (!database.isOpen) return;
    if (!timeLogEntities.every((entity) => database.knows(entity))) {
      throw new Error(
        'the DataSource lacks the entities of time logs: add timeLogEntities to its entities, or set autoLoadEntities and import TimeLogModule.forRoot({})',
      );
    }
    const tables = timeLogEntities.map((entity) => database.table(entity));
    const [row] = await database.query<{ isWhole: boolean; isTaken: boolean }>(
      `select not exists (select from unnest($1::text[]) name where to_regclass(name) is null)
          and not exists (select from unnest($2::text[]) name where to_regproc(name) is null)
          and (not $5 or exists (
            select from pg_attribute where attrelid = to_regclass($3) and attname = 'attributes')) as "isWhole",
          to_regclass($3) is null and exists (
            select from pg_class where relname = 'time_logs_pkey' and relnamespace::regnamespace::text =
              coalesce(quote_ident($4), quote_ident(current_schema()))) as "isTaken"`,
      [
        tables,
        ROUTINES.map((name) => database.routine(name)),
        database.table(TimeLog),
        database.schema,
        this.attributes.areKnown,
      ],
    );
    if (row!.isWhole) return;
    if (row!.isTaken) throw schemaTakenError();
    throw new Error(
      'the database lacks tables or functions of time logs: add timeLogMigrations to the migrations of the DataSource, and run them',
    );
  }

  /** The queues of logs that wait for a commit. */
  get queues(): readonly MeasurableBatcher[] {
    return [this.writes, this.keyedWrites.writes];
  }

  /** The number of changes that wait for a commit. */
  get queueLength(): number {
    return this.changes.length + this.queues.reduce((sum, { length }) => sum + length, 0);
  }

  private get table(): string {
    return this.database.table(TimeLog);
  }

  override add(log: TimeLog): Promise<void> {
    return this.writes.add(log).catch(this.rejectInsert);
  }

  override addOnce(log: TimeLog, key: IdempotencyKey): Promise<string> {
    return this.keyedWrites.add(log, key).catch(this.rejectInsert);
  }

  override known(log: TimeLog, key: IdempotencyKey): Promise<string | undefined> {
    return this.keyedWrites.known(log, key);
  }

  override correct(log: TimeLog, access: ProjectAccess, caller?: string): Promise<boolean> {
    return this.notifyAfter(this.changes.run(caller, () => this.corrections.correct(log, access), log.id));
  }

  override delete(id: string, access: ProjectAccess, caller?: string): Promise<TimeLog | undefined> {
    return this.notifyAfter(this.changes.run(caller, () => this.corrections.delete(id, access), id));
  }

  /** Runs in the queue of changes, no longer than the deadline. */
  override async transact<T>(
    work: (transaction: TransactionHandle) => Promise<T>,
    queueKey?: string,
    caller?: string,
  ): Promise<T> {
    const run = () => this.database.transact(work, this.transactions);
    const outcome = await this.changes.run(caller, run, queueKey);
    this.recorded();
    return outcome;
  }

  override within(transaction: TransactionHandle): TimeLogWrites {
    const statements = this.database.within(transaction);
    return {
      add: async (log) => {
        const [error] = await this.insert([log], statements).catch(this.rejectInsert);
        if (error) throw error;
      },
      addOnce: (log, key) => this.keyedWrites.add(log, key, statements).catch(this.rejectInsert),
      known: (log, key) => this.keyedWrites.known(log, key, statements),
      correct: (log, access) =>
        this.notifyAfter(this.corrections.correct(log, access, statements), statements),
      delete: (id, access) => this.notifyAfter(this.corrections.delete(id, access, statements), statements),
    };
  }

  override async get(id: string, access: ProjectAccess, caller?: string): Promise<TimeLog | undefined> {
    // Not a prepared statement: a plan made while the table was empty would later read all of it.
    const statement = new TextStatement(
      `select ${this.rows.selection('log')} from ${this.table} log where id = $1 and ${accessCondition('project_id', 2)}`,
    );
    const read = () => this.database.query(statement, [id, accessParameter(access)]);
    const [row] = await this.lookups.run(caller, read);
    return row && this.rows.log(row);
  }

  override async find(...query: Parameters<TimeLogRepository['find']>): Promise<TimeLogPage> {
    const { rows, total } = await this.readPage(...query);
    return { logs: rows.map((row) => this.rows.log(row)), total };
  }

  override async items(...query: Parameters<TimeLogRepository['find']>): Promise<TimeLogItems> {
    // A subclass may override `find`, and lists must not show logs that its `find` leaves out.
    if (this.find !== TypeOrmTimeLogRepository.prototype.find) return super.items(...query);
    const { rows, total } = await this.readPage(...query);
    return { items: this.rows.items(rows), total };
  }

  private async readPage(
    filter: TimeLogFilter,
    page: PageRequest,
    access: ProjectAccess,
    caller?: string,
  ): Promise<{ readonly rows: readonly TextRow[]; readonly total: number }> {
    const projects = projectsOf(filter, access);
    // A single statement reads page and total from one snapshot.
    const statement = (this.page ??= new PreparedStatement(
      `select ${this.rows.selection('log')}, total from ${this.pageRoutine}`,
    ));
    // The first row has only the total.
    const read = () => this.database.query(statement, pageValues(projects, filter, page));
    // Fold also if the read fails: too many unfolded changes may be the cause.
    this.sweep.begin();
    const [first, ...rows] = await this.reads.run(caller, costOf(projects, filter, page), read);
    return { rows, total: Number(first!.at(-1)) };
  }

  override async weigh(
    filter: TimeLogFilter,
    page: PageRequest,
    access: ProjectAccess,
    caller?: string,
  ): Promise<number> {
    const projects = projectsOf(filter, access);
    const statement = `select sum(${this.rows.textBytes('log')}) as bytes from ${this.pageRoutine}`;
    const values = pageValues(projects, filter, page);
    const read = () => this.database.query<{ bytes: string | null }>(statement, values);
    const [row] = await this.reads.run(caller, costOf(projects, filter, page), read);
    return Number(row!.bytes);
  }

  /** Stores all logs in one commit. Resolves with an error for each log that is not stored. */
  private async insert(
    logs: readonly TimeLog[],
    within: Statements = this.database,
  ): Promise<(undefined | Error)[]> {
    this.insertion ??= new AutocommitStatement(
      (condition) => `insert into ${this.table} (${this.rows.names})
       select * from unnest(${this.rows.arrays}) where ${condition}`,
    );
    const { affected } = await within.change(this.insertion, this.rows.arraysOf(logs));
    this.changed(within, logs.length);
    if (affected === logs.length) return logs.map(() => undefined);
    const rows = await within.query<{ id: string }>(`select id from ${this.table} where id = any($1)`, [
      logs.map(({ id }) => id),
    ]);
    return logs.map(({ id }) => (rows.some((row) => row.id === id) ? undefined : new NotStoredError()));
  }

  private get pageRoutine(): string {
    return `${this.database.routine('page_time_logs')}($1, $2, $3, $4, $5)`;
  }

  /** Throws the caller's error for a failed insert. */
  private readonly rejectInsert = (error: unknown): never => {
    throw mapInsertError(error, [this.table, this.database.table(TimeLogKey)]) ?? error;
  };

  /** Awaits a change, then notifies listeners and the sweep if its log existed. */
  private async notifyAfter<T>(change: Promise<T>, within: Statements = this.database): Promise<T> {
    const result = await change.catch((error: unknown) => {
      throw mapChangeError(error, this.table) ?? error;
    });
    if (result) this.changed(within);
    return result;
  }

  private changed(within: Statements, logs = 1): void {
    if (within === this.database) this.recorded();
    this.sweep.begin(logs);
  }
}

/** Returns the parameters of the function that finds a page. */
function pageValues(projects: Projects, { period }: TimeLogFilter, page: PageRequest): unknown[] {
  return [projects, period.from, period.to, String(page.offset), page.limit];
}

/** Returns undefined for a page far from the start. Several projects need a page of each. */
function costOf(
  projects: Projects,
  { period }: TimeLogFilter,
  { offset, limit }: PageRequest,
): ReadCost | undefined {
  const isOneList = projects === null || projects.length === 1;
  const isNear = (projects?.length ?? 1) * (Number(offset) + limit) <= CHEAP_PAGE.logs;
  return isNear ? { projects, period, rows: isOneList ? Infinity : CHEAP_PAGE.rows } : undefined;
}

type Projects = ReadCost['projects'];
