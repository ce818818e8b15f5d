import { type BatcherLimits, FairQueue } from '../../../libs/batching/src/index.js';
import type { Database } from '../../database/index.js';
import type { Period } from '../domain/period.js';
import { QUEUE_SHARE } from '../time-log.limits.js';

/** The scope of a read, and the number of rows of months that it may read without queueing. */
export interface ReadCost {
  /** Null means all projects together. */
  readonly projects: readonly string[] | null;
  readonly period: Period;
  /** The maximum number of rows without queueing; Infinity if the cost is bounded. */
  readonly rows: number;
}

/**
 * Runs reads whose cost grows with the months and projects that they read. Cheap reads run
 * immediately. Costly reads run one at a time, for the callers in rotation, and leave connections
 * to other requests.
 */
export class CostlyReads {
  private readonly queue: FairQueue;

  /** `wait` is the deadline of a request, and `now` returns the time, both in milliseconds. */
  constructor(
    private readonly database: Pick<Database, 'query' | 'routine'>,
    { queue, wait }: Pick<BatcherLimits, 'queue' | 'wait'>,
    now?: () => number,
  ) {
    this.queue = new FairQueue({ queue, wait: wait * QUEUE_SHARE }, undefined, now);
  }

  /** Settles like the read, or rejects like FairQueue. A read without a cost is costly. */
  async run<T>(caller: string | undefined, cost: ReadCost | undefined, read: () => Promise<T>): Promise<T> {
    if (cost && maxRowsOf(cost) <= cost.rows) return read();
    // Counting takes another statement, so only reads that would have to wait are counted.
    if (cost && this.queue.isBusy && (await this.isSmall(cost))) return read();
    return this.queue.run(caller, read);
  }

  /** Counts the rows in the index up to the limit. */
  private async isSmall({ projects, period: { from, to }, rows }: ReadCost): Promise<boolean> {
    // Without `order by` for each project, the planner might read the rows of all projects.
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

/** Returns the maximum number of rows of months in a period, if all changes are folded. */
function maxRowsOf({ projects, period: { from, to } }: ReadCost): number {
  if (from === undefined || to === undefined) return Infinity;
  const months = (day: string) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7));
  return (months(to) - months(from) + 1) * (projects?.length ?? 1);
}
