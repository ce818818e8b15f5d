import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countNamesIn } from '../counts/count-layout.js';

/**
 * The sum of durations beside each count. PostgreSQL reads the defaults once for all rows that are there, and rewrites
 * none. The functions of before go on, and leave both columns out.
 */
export class AddDurationSums1764547200000 implements MigrationInterface {
  readonly name = 'AddDurationSums1764547200000';

  async up(runner: QueryRunner): Promise<void> {
    const { counts } = await countNamesIn(runner);
    // Everybody waits behind a column that waits for its lock.
    await runner.query(`set local lock_timeout = '10s'`);
    // Of one null, so that the first day that is set makes it an array that begins with the first day.
    await runner.query(`
      alter table ${counts} add column duration numeric not null default 0,
                            add column durations numeric[] default '{null}'`);
    await runner.query(`comment on column ${counts}.durations is 'The sum of each day; null for none.'`);
    // Finds what is to be folded without a look at all counts; whoever writes to the first slot has no part in it.
    await runner.query(
      `create index if not exists time_log_counts_slot_idx on ${counts} (slot) where slot > 0`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    const { counts } = await countNamesIn(runner);
    // The index goes with its table.
    await runner.query(`alter table ${counts} drop column duration, drop column durations`);
  }
}
