import type { Database } from '../../../database/index.js';

/** The result of a check of the counts. */
export interface CountsCheck {
  /** All logs, by the counts. */
  readonly logs: number;
  /** Counts that differ from the logs. */
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

  /** Repairs wrong counts. Returns how many there were. */
  async rebuild(): Promise<number> {
    const [row] = await this.database.change<{ mended: string }>(
      `select ${this.database.routine('rebuild_time_log_counts')}() as mended`,
    );
    return Number(row!.mended);
  }
}
