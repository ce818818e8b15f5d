import type { Database } from '../../database/index.js';
import type { CalendarDate } from '../../time-log/domain/time-log.rules.js';

/** The records of deleted logs, which the feed reports. */
export class TimeLogDeletions {
  constructor(private readonly database: Database) {}

  /** Removes the records from before a day (UTC), and returns their number. */
  async forget(before: CalendarDate): Promise<number> {
    // On an idle server the newest deletion is not yet below the horizon. A transaction moves the horizon.
    await this.database.change('select pg_current_xact_id()');
    const [row] = await this.database.change<{ forgotten: string }>(
      `select ${this.database.routine('forget_time_log_deletions')}($1) as forgotten`,
      [before],
    );
    return Number(row!.forgotten);
  }
}
