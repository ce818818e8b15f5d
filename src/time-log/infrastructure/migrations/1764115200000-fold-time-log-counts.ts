import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type CountNames, countNamesIn } from '../counts/count-layout.js';
import { foldTimeLogCountsV1 } from '../counts/fold-time-log-counts.v1.js';

/** Reduces slots that many concurrent transactions have made: the cost of a list grows with them. */
export class FoldTimeLogCounts1764115200000 implements MigrationInterface {
  readonly name = 'FoldTimeLogCounts1764115200000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    // Writers wait behind an index that waits for its lock.
    await runner.query(`set local lock_timeout = '10s'`);
    for (const statement of [laterSlots, foldTimeLogCountsV1]) await runner.query(statement(names));
  }

  async down(runner: QueryRunner): Promise<void> {
    // The index goes with its table.
    await runner.query(`drop function ${(await countNamesIn(runner)).fold}`);
  }
}

/** Finds what is to be folded without a look at all counts; whoever writes to the first slot has no part in it. */
const laterSlots = ({ counts }: CountNames) =>
  `create index if not exists time_log_counts_slot_idx on ${counts} (slot) where slot > 0`;
