import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countNamesIn } from '../counts/count-layout.js';
import { countTimeLogsV1 } from '../counts/count-time-logs.v1.js';
import { countTimeLogsV2 } from '../counts/count-time-logs.v2.js';
import { foldTimeLogCountsV1 } from '../counts/fold-time-log-counts.v1.js';
import { foldTimeLogCountsV2 } from '../counts/fold-time-log-counts.v2.js';
import { rebuildTimeLogCountsV2 } from '../counts/rebuild-time-log-counts.v2.js';
import { rebuildTimeLogCountsV3 } from '../counts/rebuild-time-log-counts.v3.js';
import { timeLogCountDifferencesV2 } from '../counts/time-log-count-differences.v2.js';

/**
 * Whoever counts from now on also sums: they are the same triggers, so instances of before do it too. It waits for who
 * is writing, and who wants to write waits for it, a moment each: nobody may commit logs later that only were counted.
 */
export class KeepDurationSums1764547300000 implements MigrationInterface {
  readonly name = 'KeepDurationSums1764547300000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`lock table ${names.logs} in share mode`);
    for (const text of [
      countTimeLogsV2,
      timeLogCountDifferencesV2,
      rebuildTimeLogCountsV3,
      foldTimeLogCountsV2,
    ]) {
      await runner.query(text(names));
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    await runner.query(`lock table ${names.logs} in share mode`);
    for (const text of [countTimeLogsV1, rebuildTimeLogCountsV2, foldTimeLogCountsV1]) {
      await runner.query(text(names).replace('create function', 'create or replace function'));
    }
    await runner.query(`drop function ${names.differencesV2}`);
  }
}
