import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countNamesIn } from '../counts/count-layout.js';
import { rebuildAlone } from '../counts/rebuild-time-log-counts.v2.js';
import { timeLogPageOfV1 } from '../counts/time-log-page-of.v1.js';
import { timeLogPageV2 } from '../counts/time-log-page.v2.js';
import { timeLogPeriodSumsOfV1, timeLogPeriodSumsV1 } from '../counts/time-log-period-sums.v1.js';
import { timeLogProjectSumsOfV1, timeLogProjectSumsV1 } from '../counts/time-log-project-sums.v1.js';
import { timeLogSumOfV1, timeLogSumV1 } from '../counts/time-log-sum.v1.js';
import { timeLogsBetweenV1 } from '../counts/time-logs-between.v1.js';

/**
 * Sums the logs of before: a migration of its own, so that nobody waits while it reads them all. Only then the
 * functions that read sums and pages are there, and an instance that needs them can start. Those of before stay:
 * instances of version 0.1 call them until the last of them has ended.
 */
export class SumDurations1764547500000 implements MigrationInterface {
  readonly name = 'SumDurations1764547500000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    // Beside another one a rebuild fails: this one waits for it.
    await runner.query(rebuildAlone(names));
    await runner.query(`select ${names.rebuild}()`);
    for (const text of [
      timeLogSumV1,
      timeLogProjectSumsV1,
      timeLogPeriodSumsV1,
      timeLogsBetweenV1,
      timeLogPageV2,
      // For callers who may see some projects. They take the counts, sums and indexes that are there.
      timeLogSumOfV1,
      timeLogProjectSumsOfV1,
      timeLogPeriodSumsOfV1,
      timeLogPageOfV1,
    ]) {
      await runner.query(text(names));
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    for (const name of [
      names.pageOf,
      names.periodSumsOf,
      names.projectSumsOf,
      names.sumOf,
      names.pageV2,
      names.between,
      names.periodSums,
      names.projectSums,
      names.sum,
    ]) {
      await runner.query(`drop function ${name}`);
    }
  }
}
