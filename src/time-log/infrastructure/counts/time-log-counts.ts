import type { Database } from '../../../database/index.js';

/** What a check of the counts has found. */
export interface CountsCheck {
  /** Logs in all, by the counts. */
  readonly logs: number;
  /** Counts that differ from what the logs say. */
  readonly wrong: number;
}

/**
 * The counts that lists take their totals and pages from, held against the logs. Both methods read every log, and
 * neither makes anybody wait: they work in one snapshot while others write.
 */
export class TimeLogCounts {
  constructor(private readonly database: Database) {}

  async verify(): Promise<CountsCheck> {
    const [row] = await this.database.query<{ logs: string; wrong: string }>(
      `select ${this.database.routine('time_logs_since')}(null, '0001-01-01') as logs,
              (select count(*) from ${this.database.routine('time_log_count_differences')}()) as wrong`,
    );
    return { logs: Number(row!.logs), wrong: Number(row!.wrong) };
  }

  /** Mends what is wrong, and returns how many counts that were. */
  async rebuild(): Promise<number> {
    const [row] = await this.database.change<{ mended: string }>(
      `select ${this.database.routine('rebuild_time_log_counts')}() as mended`,
    );
    return Number(row!.mended);
  }
}
