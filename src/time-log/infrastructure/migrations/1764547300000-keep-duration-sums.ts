import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countNamesIn } from '../counts/count-layout.js';
import { countTimeLogsV1 } from '../counts/count-time-logs.v1.js';
import { countTimeLogsV2 } from '../counts/count-time-logs.v2.js';
import { foldTimeLogCountsV1 } from '../counts/fold-time-log-counts.v1.js';
import { forgetTimeLogCountsV1 } from '../counts/forget-time-log-counts.v1.js';
import { forgetTimeLogCountsV2 } from '../counts/forget-time-log-counts.v2.js';
import { rebuildTimeLogCountsV1 } from '../counts/rebuild-time-log-counts.v1.js';
import { rebuildTimeLogCountsV2 } from '../counts/rebuild-time-log-counts.v2.js';
import { timeLogCountDifferencesV2 } from '../counts/time-log-count-differences.v2.js';

/**
 * Whoever counts from now on also sums: they are the same triggers, so instances of before do it too. It waits for who
 * is writing, and who wants to write waits for it, a moment each: nobody may commit logs later that only were counted.
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
      countTimeLogsV2,
      forgetTimeLogCountsV2,
      timeLogCountDifferencesV2,
      rebuildTimeLogCountsV2,
      foldTimeLogCountsV1,
    ]) {
      await runner.query(text(names));
    }
  }

  /** Gives back the functions as new databases have them, without the SET of 0.1. */
  async down(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    await runner.query(`lock table ${names.logs} in share mode`);
    for (const text of [countTimeLogsV1, forgetTimeLogCountsV1, rebuildTimeLogCountsV1]) {
      await runner.query(text(names).replace('create function', 'create or replace function'));
    }
    for (const name of [names.fold, names.differencesV2]) await runner.query(`drop function ${name}`);
  }
}
