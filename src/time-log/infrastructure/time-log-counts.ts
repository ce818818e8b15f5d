import type { Database } from '../../database/index.js';

/** The result of a check of counts and sums. */
export interface CountsCheck {
  /** The number of all logs, according to the counts. */
  readonly logs: number;
  /** The number of rows whose count or sum differs from the logs. */
  readonly wrong: number;
}

/**
 * Compares the counts and sums of lists and totals with the logs. Both methods read every log in one
 * snapshot, and block no writers.
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

  /** Repairs wrong counts and sums. Returns the number of repaired rows. */
  async rebuild(): Promise<number> {
    const [row] = await this.database.change<{ repaired: string }>(
      `select ${this.database.routine('rebuild_time_log_counts')}() as repaired`,
    );
    return Number(row!.repaired);
  }
}
