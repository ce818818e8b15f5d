import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countNamesIn } from '../counts/count-layout.js';
import { timeLogPeriodSumsV1 } from '../counts/time-log-period-sums.v1.js';
import { timeLogProjectSumsV1 } from '../counts/time-log-project-sums.v1.js';
import { timeLogSumV1 } from '../counts/time-log-sum.v1.js';

/**
 * Sums the logs of before: a migration of its own, so that nobody waits while it reads them all. Only then the
 * functions that read sums are there, and an instance that needs them can start.
 */
export class SumDurations1764547500000 implements MigrationInterface {
  readonly name = 'SumDurations1764547500000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    await runner.query(`select ${names.rebuild}()`);
    for (const text of [timeLogSumV1, timeLogProjectSumsV1, timeLogPeriodSumsV1])
      await runner.query(text(names));
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    for (const name of [names.periodSums, names.projectSums, names.sum])
      await runner.query(`drop function ${name}`);
  }
}
