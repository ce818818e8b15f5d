import { Inject, Injectable, Optional } from '@nestjs/common';
import { Limit, type MeasurableBatcher } from '../../../libs/batching/src/index.js';
import {
  Database,
  isUndefinedFunction,
  type Statements,
  TextStatement,
  restOf,
} from '../../database/index.js';
import type { TimeLogAccess } from '../domain/time-log-query.js';
import { AttributeRules } from '../domain/attribute-rules.js';
import {
  type AnsweredLog,
  type Recorded,
  type StoreOptions,
  type TimeLogPage,
  TimeLogRepository,
  type TimeLogStore,
  type TransactOptions,
  type TransactionHandle,
} from '../domain/time-log.repository.js';
import type { RequestKey } from '../domain/idempotency-key.js';
import type { TimeLogItems } from '../domain/time-log-item.js';
import { TimeLog } from '../domain/time-log.js';
import { limitsOf } from '../time-log.limits.js';
import { TIME_LOG_OPTIONS, type TimeLogOptions } from '../time-log.options.js';
import { TimeLogCorrections } from './time-log-corrections.js';
import { CostlyReads } from './costly-reads.js';
import { TimeLogCreates } from './time-log-creates.js';
import { TimeLogPages } from './time-log-pages.js';
import { TimeLogRows } from './time-log-rows.js';
import { mapChangeError } from './storage-errors.js';
import { TimeLogSweep } from './time-log-sweep.js';
import { accessCondition, newParameters } from './time-log-conditions.js';

/** The message of the error if too many changes wait, for clients and for the code of a host. */
const QUEUE_FULL = 'the write queue is full: retry later (a host may raise limits.writeQueue)';

/** Stores time logs in PostgreSQL. Logs that arrive during a write share commits. */
@Injectable()
export class TypeOrmTimeLogRepository extends TimeLogRepository {
  /** Shared with the repositories of totals and of the feed. */
  readonly rows: TimeLogRows;
  readonly sweep: TimeLogSweep;
  readonly costlyReads: CostlyReads;
  /** The queues of logs that wait for a commit. */
  readonly queues: MeasurableBatcher[];
  private readonly creates: TimeLogCreates;
  private readonly corrections: TimeLogCorrections;
  /** Corrections and transactions may wait for a locked row. They leave half of the pool to others. */
  private readonly changes: Limit;
  private readonly pages: TimeLogPages;
  private readonly listeners: (() => unknown)[] = [];
  /** The maximum time that a transaction takes. */
  private readonly deadlineMs: number;

  constructor(
    readonly database: Database,
    @Optional() @Inject(TIME_LOG_OPTIONS) { limits }: TimeLogOptions = {},
    @Optional() rules: AttributeRules = new AttributeRules(),
  ) {
    super();
    const rows = new TimeLogRows(rules.haveAttributes);
    this.rows = rows;
    const { writeQueue, deadline: deadlineMs, keyLifetime } = limitsOf(limits);
    // In SQL, by the clock of the database: if that is set back, keys live longer, and no create is stored twice.
    const lifetime = `interval '${keyLifetime} hours'`;
    this.sweep = new TimeLogSweep(database, lifetime);
    const halfOfPool = () => Math.floor(database.pool.max / 2) || 1;
    this.costlyReads = new CostlyReads(database, halfOfPool, deadlineMs);
    this.pages = new TimeLogPages(database, rows, this.costlyReads, this.sweep);
    this.changes = new Limit(halfOfPool, deadlineMs);
    this.corrections = new TimeLogCorrections(database, rows);
    this.deadlineMs = deadlineMs;
    const queueLimits = { queue: writeQueue, waitMs: deadlineMs, fullMessage: QUEUE_FULL };
    this.creates = new TimeLogCreates(database, rows, queueLimits, lifetime, (statements, logs) =>
      this.changed(statements, logs),
    );
    this.queues = [this.creates.single, this.creates.keyed];
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

  /** The number of changes that wait for a commit: logs, batches and corrections. */
  get queueLength(): number {
    return [this.changes, this.creates.batches, ...this.queues].reduce((sum, { length }) => sum + length, 0);
  }

  private get table(): string {
    return this.database.table(TimeLog);
  }

  override record(logs: readonly TimeLog[], options?: StoreOptions): Promise<Recorded> {
    return this.creates.record(logs, options);
  }

  override findByKey(key: RequestKey): Promise<readonly AnsweredLog[] | undefined> {
    return this.creates.findByKey(key);
  }

  override correct(
    log: TimeLog,
    access: TimeLogAccess,
    callerId?: string,
    expected?: TimeLog,
  ): Promise<TimeLog | undefined> {
    const correct = () => this.corrections.correct(log, access, expected);
    return this.notifyAfter(this.changes.run(callerId, correct, { key: log.id }));
  }

  override delete(
    id: string,
    access: TimeLogAccess,
    callerId?: string,
    expected?: TimeLog,
  ): Promise<TimeLog | undefined> {
    const remove = () => this.corrections.delete(id, access, expected);
    return this.notifyAfter(this.changes.run(callerId, remove, { key: id }));
  }

  /** Waits no longer than the deadline for other changes or batches, and then runs no longer than that. */
  override async transact<T>(
    work: (transaction: TransactionHandle) => Promise<T>,
    { queueKey, callerId, deadlineMs, isBatch }: TransactOptions = {},
  ): Promise<T> {
    const timeoutMs = deadlineMs === undefined ? () => this.deadlineMs : restOf(deadlineMs);
    const run = () => this.database.transact(work, timeoutMs()).catch(this.rejectChange);
    const limit = isBatch ? this.creates.batches : this.changes;
    const outcome = await limit.run(callerId, run, { key: queueKey, waitMs: deadlineMs });
    this.notifyChanged();
    return outcome;
  }

  override within(transaction: TransactionHandle): TimeLogStore {
    const statements = this.database.within(transaction);
    return {
      record: (logs, options) => this.creates.record(logs, options, statements),
      findByKey: (key) => this.creates.findByKey(key, statements),
      correct: (log, access, _callerId, expected) =>
        this.notifyAfter(this.corrections.correct(log, access, expected, statements), statements),
      delete: (id, access, _callerId, expected) =>
        this.notifyAfter(this.corrections.delete(id, access, expected, statements), statements),
      get: (id, access, locks) => this.read(id, access, statements, locks),
    };
  }

  override get(id: string, access: TimeLogAccess, locks?: boolean): Promise<TimeLog | undefined> {
    return this.read(id, access, this.database, locks);
  }

  private async read(
    id: string,
    access: TimeLogAccess,
    statements: Statements,
    locks = false,
  ): Promise<TimeLog | undefined> {
    const { parameters, bind } = newParameters();
    // Not a prepared statement: a plan made while the table was empty would later read all of it.
    const statement = new TextStatement(
      `select ${this.rows.selection('log')} from ${this.table} log where id = ${bind(id)} and ${accessCondition(access, bind)}${locks ? ' for no key update' : ''}`,
    );
    const [row] = await statements.query(statement, parameters);
    return row && this.rows.log(row);
  }

  override async find(...query: Parameters<TimeLogRepository['find']>): Promise<TimeLogPage> {
    const { rows, total } = await this.pages.read('all', ...query);
    return { logs: rows.map((row) => this.rows.log(row)), total };
  }

  override async items(...query: Parameters<TimeLogRepository['find']>): Promise<TimeLogItems> {
    const { rows, total } = await this.pages.read('listed', ...query);
    return { items: this.rows.items(rows), total };
  }

  override async after(...query: Parameters<TimeLogRepository['after']>): Promise<TimeLog[]> {
    return (await this.pages.after(...query)).map((row) => this.rows.log(row));
  }

  override onChanged(listener: () => unknown): void {
    this.listeners.push(listener);
  }

  /** Calls the listeners, after a commit. */
  private notifyChanged(): void {
    for (const listener of this.listeners) listener();
  }

  /** Throws the caller's error for a failed change or commit. */
  private readonly rejectChange = (error: unknown): never => {
    throw mapChangeError(error, this.table) ?? error;
  };

  /** Awaits a change, then notifies listeners and the sweep if its log exists. */
  private async notifyAfter<T>(change: Promise<T>, statements: Statements = this.database): Promise<T> {
    const result = await change.catch(this.rejectChange);
    if (result) this.changed(statements);
    return result;
  }

  private changed(statements: Statements, logs = 1): void {
    if (logs > 0 && statements === this.database) this.notifyChanged();
    this.sweep.begin(logs);
  }
}
