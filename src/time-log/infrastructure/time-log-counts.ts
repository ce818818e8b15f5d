import type { Database } from '../../database/index.js';

/** The result of a check of counts and sums. */
export interface CountsCheck {
  /** All logs, by the counts. */
  readonly logs: number;
  /** Rows with a count or a sum that differs from the logs. */
  readonly wrong: number;
}

/**
 * The counts that lists take their totals and pages from, and the sums beside them, held against the logs. Both methods
 * read every log, and neither makes anybody wait: they work in one snapshot while others write.
 */
export class TimeLogCounts {
  constructor(private readonly database: Database) {}

  async verify(): Promise<CountsCheck> {
    const [row] = await this.database.query<{ logs: string; wrong: string }>(
      `select n as logs, (select count(*) from ${this.database.routine('time_log_count_faults')}()) as wrong
         from ${this.database.routine('sum_time_logs')}(null, null, null)`,
    );
    return { logs: Number(row!.logs), wrong: Number(row!.wrong) };
  }

  /** Repairs wrong counts and sums. Returns how many rows had one. */
  async rebuild(): Promise<number> {
    const [row] = await this.database.change<{ mended: string }>(
      `select ${this.database.routine('rebuild_time_log_counts')}() as mended`,
    );
    return Number(row!.mended);
  }
}
