import type { DataSource, QueryRunner } from 'typeorm';
import { hasSqlState, qualified } from '../../database/index.js';
import { type CalendarDate, isCalendarDate } from '../domain/calendar-date.js';

/** The most logs of one transaction, which takes some 0.2 s, and the least on a disk that is full. */
const BATCH = 10_000;
const SMALL_BATCH = 100;
/** SQLSTATE. */
const DISK_FULL = /^53100$/;
/** Before the first log. */
const BEGINNING = { date: '0001-01-01', id: '00000000-0000-0000-0000-000000000000' };

/** How logs are dropped. */
export interface Drop {
  /** Whether the feed tells each log that is gone, as it tells any deletion. */
  readonly isTold: boolean;
  /** Ends it after the transaction under way. */
  readonly signal: AbortSignal;
  /** Called with how many logs are gone. */
  readonly onProgress: (dropped: number) => void;
}

interface Batch {
  readonly dropped: number;
  /** Deletions that the feed had kept, and never tells now. */
  readonly removed: number;
  readonly date: CalendarDate | null;
  readonly id: string | null;
}

/** An open transaction that has a number. */
interface Open {
  readonly runner: QueryRunner;
  readonly number: string;
}

/** Logs whose `date` is before a day. */
export class OldTimeLogs {
  static readonly isDay = isCalendarDate;

  /** It needs two connections at a time. */
  constructor(
    private readonly dataSource: DataSource,
    private readonly batch = BATCH,
  ) {}

  async count(before: CalendarDate): Promise<number> {
    const [row] = await this.dataSource.query<[{ count: string }]>(
      `select n as count from ${qualified(this.dataSource, 'sum_time_logs')}(null, null, $1::date - 1)`,
      [before],
    );
    return Number(row.count);
  }

  /**
   * Drops them, in transactions that are short, each all or nothing; those that others hold are left. Returns how many.
   * The next transaction is open when one commits (schema/feed.sql). On a full disk it continues with smaller
   * transactions, which need less room.
   */
  async drop(before: CalendarDate, { isTold, signal, onProgress }: Drop): Promise<number> {
    const open: Open[] = [await this.begin()];
    try {
      let sum = 0;
      let { batch } = this;
      for (let place = BEGINNING; ;) {
        open.push(await this.begin());
        const next = await this.dropNext(open, before, { ...place, batch }, isTold).catch(
          (error: unknown) => {
            if (!hasSqlState(error, DISK_FULL) || batch <= SMALL_BATCH) throw error;
          },
        );
        if (next === undefined) {
          await giveBack(open.shift()!.runner);
          batch = Math.max(SMALL_BATCH, Math.floor(batch / 10));
          continue;
        }
        const { dropped, removed, date, id } = next;
        sum += dropped;
        onProgress(sum);
        if (dropped === 0 && removed < batch) return sum;
        signal.throwIfAborted();
        if (date !== null && id !== null) place = { date, id };
      }
    } finally {
      for (const { runner } of open) await giveBack(runner);
    }
  }

  /** Commits the first of the two transactions. */
  private async dropNext(
    open: Open[],
    before: CalendarDate,
    { date, id, batch: most }: typeof BEGINNING & { readonly batch: number },
    isTold: boolean,
  ): Promise<Batch> {
    const [{ runner }, { number }] = open as [Open, Open];
    const [batch] = (await runner.query(
      `select dropped, removed, last_date::text as date, last_id as id
         from ${qualified(this.dataSource, 'drop_time_logs')}($1, $2, $3, $4, $5)`,
      [before, date, id, most, isTold ? null : number],
    )) as [Batch];
    await runner.commitTransaction();
    open.shift();
    await runner.release();
    return batch;
  }

  private async begin(): Promise<Open> {
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.startTransaction('READ COMMITTED');
      const [row] = (await runner.query('select pg_current_xact_id()::text as number')) as [Open];
      return { runner, number: row.number };
    } catch (error) {
      await giveBack(runner);
      throw error;
    }
  }
}

async function giveBack(runner: QueryRunner): Promise<void> {
  // Where the connection is lost, the server rolls back by itself.
  if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
  await runner.release();
}
