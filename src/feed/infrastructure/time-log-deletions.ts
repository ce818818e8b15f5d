import type { Database } from '../../database/index.js';
import { type CalendarDate, isCalendarDate } from '../../time-log/domain/calendar-date.js';

/** What is left of deleted logs, for the feed. */
export class TimeLogDeletions {
  static readonly isDay = isCalendarDate;

  constructor(private readonly database: Database) {}

  /** Forgets those of before a day (UTC). Returns how many. */
  async forget(before: CalendarDate): Promise<number> {
    // On an idle server the newest deletion is right before the horizon, and would stay: this moves the horizon on.
    await this.database.change('select pg_current_xact_id()');
    const [row] = await this.database.change<{ forgotten: string }>(
      `select ${this.database.routine('forget_time_log_deletions')}($1) as forgotten`,
      [before],
    );
    return Number(row!.forgotten);
  }
}
