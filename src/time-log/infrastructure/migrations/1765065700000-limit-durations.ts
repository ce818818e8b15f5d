import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isCurrent, rejectDown } from '../schema/released.js';
import { runText } from '../schema/schema.js';

/**
 * Limits durations to doubles, also for SQL. Existing logs are not scanned, and a restore accepts
 * them; responses contain the nearest double.
 */
export class LimitDurations1765065700000 implements MigrationInterface {
  readonly name = 'LimitDurations1765065700000';

  async up(runner: QueryRunner): Promise<void> {
    if (await isCurrent(runner)) return;
    // While the statement waits for its lock, all readers and writers wait behind it.
    await runText(
      runner,
      `set local lock_timeout = '10s';
       alter table {{time_logs}} add constraint time_logs_duration_is_within_double
         check (duration between 5e-324 and 1.7976931348623157e308) not valid`,
    );
  }

  readonly down = rejectDown;
}
