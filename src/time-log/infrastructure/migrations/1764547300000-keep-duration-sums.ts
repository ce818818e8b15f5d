import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type CountNames, countNamesIn } from '../counts/count-layout.js';
import { countTimeLogsV1 } from '../counts/count-time-logs.v1.js';
import { countTimeLogsV2 } from '../counts/count-time-logs.v2.js';
import { foldTimeLogCountsV1 } from '../counts/fold-time-log-counts.v1.js';
import { forgetTimeLogCountsV1 } from '../counts/forget-time-log-counts.v1.js';
import { forgetTimeLogCountsV2 } from '../counts/forget-time-log-counts.v2.js';
import { rebuildTimeLogCountsV1 } from '../counts/rebuild-time-log-counts.v1.js';
import { rebuildTimeLogCountsV2 } from '../counts/rebuild-time-log-counts.v2.js';
import { timeLogCountDifferencesV2 } from '../counts/time-log-count-differences.v2.js';

/**
 * The sum of durations beside each count. Whoever counts from now on also sums: they are the same triggers, so
 * instances of before do it too. It waits for who is writing, and who wants to write waits for it, a moment each:
 * nobody may commit logs later that only were counted. PostgreSQL rewrites no row for the columns.
 *
 * Slots that many concurrent transactions have made can be folded from now on. A rebuild and a TRUNCATE that would
 * change the counts by what they saw too early fail instead. Version 0.1 made the functions that write counts with a
 * SET that only a superuser may give them: they lose it here.
 */
export class KeepDurationSums1764547300000 implements MigrationInterface {
  readonly name = 'KeepDurationSums1764547300000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`lock table ${names.logs} in share mode`);
    for (const text of [
      columns,
      laterSlots,
      countTimeLogsV2,
      forgetTimeLogCountsV2,
      timeLogCountDifferencesV2,
      rebuildTimeLogCountsV2,
      foldTimeLogCountsV1,
      noDefaults,
    ]) {
      await runner.query(text(names));
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    await runner.query(`lock table ${names.logs} in share mode`);
    for (const text of [countTimeLogsV1, forgetTimeLogCountsV1, rebuildTimeLogCountsV1]) {
      await runner.query(text(names).replace('create function', 'create or replace function'));
    }
    for (const name of [names.fold, names.differencesV2]) await runner.query(`drop function ${name}`);
    await runner.query(`alter table ${names.counts} drop column duration, drop column durations`);
    // The index goes with its table.
  }
}

/** The array is of one null, so that the first day that is set makes it an array that begins with the first day. */
const columns = ({ counts }: CountNames) => `
  alter table ${counts} add column duration numeric not null default 0,
                        add column durations numeric[] default '{null}';
  comment on column ${counts}.durations is 'The sum of each day; null for none.'`;

/** Finds what is to be folded without a look at all counts; whoever writes to the first slot has no part in it. */
const laterSlots = ({ counts }: CountNames) =>
  `create index if not exists time_log_counts_slot_idx on ${counts} (slot) where slot > 0`;

/** A rebuild of version 0.1 that is under way fails, instead of adding rows that have no sums. */
const noDefaults = ({ counts }: CountNames) =>
  `alter table ${counts} alter column duration drop default, alter column durations drop default`;
