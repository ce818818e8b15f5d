import type { Database } from '../../database/index.js';

/**
 * Compares the counts and sums of lists and totals with the logs. Both methods read every log in one
 * snapshot, and block no writers.
 */
export class TimeLogCountsCheck {
  constructor(private readonly database: Database) {}

  /** Returns the number of all logs, and the number of rows whose count or sum differs from the logs. */
  async verify(): Promise<{ readonly logs: number; readonly wrong: number }> {
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
