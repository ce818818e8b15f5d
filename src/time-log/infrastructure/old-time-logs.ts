import type { DataSource, QueryRunner } from 'typeorm';
import { hasSqlState, qualified, rollBack } from '../../database/index.js';
import type { CalendarDate } from '../domain/time-log.rules.js';

/** The number of logs in a transaction, which takes 0.2 s, and the minimum on a full disk. */
const BATCH_LOGS = 10_000;
const MIN_BATCH_LOGS = 100;
/** The SQLSTATE disk_full. */
const DISK_FULL = /^53100$/;
/** The cursor before the first log. */
const START = { date: '0001-01-01', id: '00000000-0000-0000-0000-000000000000' };

/** The options of `OldTimeLogs.drop`. */
export interface DropOptions {
  /** Whether the feed reports each dropped log as a deletion. */
  readonly publishes: boolean;
  /** Stops it after the current transaction. */
  readonly signal: AbortSignal;
  /** Called with the number of dropped logs. */
  readonly onProgress: (dropped: number) => void;
}

interface Batch {
  readonly dropped: number;
  /** The number of earlier deletions that the feed no longer reports. */
  readonly removed: number;
  readonly date: CalendarDate | null;
  readonly id: string | null;
}

/** An open transaction and its transaction id. */
interface Transaction {
  readonly runner: QueryRunner;
  readonly number: string;
}

/** Counts and drops the logs whose `date` is before a day. */
export class OldTimeLogs {
  /** The DataSource needs two connections. */
  constructor(
    private readonly dataSource: DataSource,
    private readonly batch = BATCH_LOGS,
  ) {}

  async count(before: CalendarDate): Promise<number> {
    const [row] = await this.dataSource.query<[{ count: string }]>(
      `select n as count from ${qualified(this.dataSource, 'sum_time_logs')}(null, null, $1::date - 1)`,
      [before],
    );
    return Number(row.count);
  }

  /**
   * Drops logs in short transactions, skips locked ones, and returns the number of dropped logs. The
   * next transaction opens before one commits, for the feed. A full disk makes them smaller.
   */
  async drop(before: CalendarDate, { publishes, signal, onProgress }: DropOptions): Promise<number> {
    const open: Transaction[] = [await this.begin()];
    try {
      let sum = 0;
      let { batch } = this;
      for (let cursor = START; ;) {
        open.push(await this.begin());
        const next = await this.dropNext(open, before, { ...cursor, batch }, publishes).catch(
          (error: unknown) => {
            if (!hasSqlState(error, DISK_FULL) || batch <= MIN_BATCH_LOGS) throw error;
          },
        );
        if (next === undefined) {
          await rollBack(open.shift()!.runner);
          batch = Math.max(MIN_BATCH_LOGS, Math.floor(batch / 10));
          continue;
        }
        const { dropped, removed, date, id } = next;
        sum += dropped;
        onProgress(sum);
        if (dropped === 0 && removed < batch) return sum;
        signal.throwIfAborted();
        if (date !== null && id !== null) cursor = { date, id };
      }
    } finally {
      for (const { runner } of open) await rollBack(runner);
    }
  }

  /** Commits the first of the two transactions. */
  private async dropNext(
    open: Transaction[],
    before: CalendarDate,
    { date, id, batch: limit }: typeof START & { readonly batch: number },
    publishes: boolean,
  ): Promise<Batch> {
    const [{ runner }, { number }] = open as [Transaction, Transaction];
    const [batch] = (await runner.query(
      `select dropped, removed, last_date::text as date, last_id as id
         from ${qualified(this.dataSource, 'drop_time_logs')}($1, $2, $3, $4, $5)`,
      [before, date, id, limit, publishes ? null : number],
    )) as [Batch];
    await runner.commitTransaction();
    open.shift();
    await runner.release();
    return batch;
  }

  private async begin(): Promise<Transaction> {
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.startTransaction('READ COMMITTED');
      const [row] = (await runner.query('select pg_current_xact_id()::text as number')) as [Transaction];
      return { runner, number: row.number };
    } catch (error) {
      await rollBack(runner);
      throw error;
    }
  }
}
