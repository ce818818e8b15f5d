import { type BatcherLimits, FairQueue } from '../../../libs/batching/src/index.js';
import type { Database } from '../../database/index.js';
import type { Period } from '../domain/period.js';
import { QUEUE_SHARE } from '../time-log.limits.js';

/** The scope of a read, and how many rows of months it may read at once. */
export interface ReadCost {
  /** Null for all together. */
  readonly projects: readonly string[] | null;
  readonly period: Period;
  /** The number of rows of months that it may read without a place in the queue; Infinity if its cost is bounded. */
  readonly rows: number;
}

/**
 * Runs reads whose cost grows with what one caller has stored. Those that read few rows of months run at once. The
 * others run one at a time, for the callers in rotation, so that they leave connections and processors to all others.
 */
export class CostlyReads {
  private readonly queue: FairQueue;

  /** `wait` is the deadline of a request in milliseconds, `now` the time in milliseconds. */
  constructor(
    private readonly database: Pick<Database, 'query' | 'routine'>,
    { queue, wait }: Pick<BatcherLimits, 'queue' | 'wait'>,
    now?: () => number,
  ) {
    this.queue = new FairQueue({ queue, wait: wait * QUEUE_SHARE }, undefined, now);
  }

  /** Settles like the read, which is costly if no cost is given. Rejects like FairQueue. */
  async run<T>(caller: string | undefined, cost: ReadCost | undefined, read: () => Promise<T>): Promise<T> {
    if (cost && mostRowsOf(cost) <= cost.rows) return read();
    // Counting takes a further statement, so only reads that would have to wait are counted.
    if (cost && this.queue.isBusy && (await this.isSmall(cost))) return read();
    return this.queue.run(caller, read);
  }

  /** Counts the rows in the index, and stops at the limit. */
  private async isSmall({ projects, period: { from, to }, rows }: ReadCost): Promise<boolean> {
    // Without an order for each project the server might read the rows of all projects.
    const [row] = await this.database.query<{ isSmall: boolean }>(
      `select count(*) <= $4 as "isSmall" from (
         select from unnest(coalesce($1::uuid[], '{00000000-0000-0000-0000-000000000000}')) project cross join lateral (
           select from ${this.database.routine('time_log_months')}
            where of_all = ($1 is null) and project_id = project
              and month > coalesce($2, '0001-01-01')::date - 31 and month <= coalesce($3, '9999-12-31')::date
            order by month limit $4 + 1
         ) months limit $4 + 1
       ) some_rows`,
      [projects, from, to, rows],
    );
    return row!.isSmall;
  }
}

/** The most rows of months in a period, if none is left to be folded. */
function mostRowsOf({ projects, period: { from, to } }: ReadCost): number {
  if (from === undefined || to === undefined) return Infinity;
  const months = (day: string) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7));
  return (months(to) - months(from) + 1) * (projects?.length ?? 1);
}
