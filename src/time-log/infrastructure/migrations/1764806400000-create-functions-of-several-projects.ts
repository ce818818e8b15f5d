import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countNamesIn } from '../counts/count-layout.js';
import { timeLogPageOfV1 } from '../counts/time-log-page-of.v1.js';
import { timeLogPeriodSumsOfV1 } from '../counts/time-log-period-sums.v1.js';
import { timeLogProjectSumsOfV1 } from '../counts/time-log-project-sums.v1.js';
import { timeLogSumOfV1 } from '../counts/time-log-sum.v1.js';

/** Pages and totals for callers who may see some projects. They take the counts, sums and indexes that are there. */
export class CreateFunctionsOfSeveralProjects1764806400000 implements MigrationInterface {
  readonly name = 'CreateFunctionsOfSeveralProjects1764806400000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    for (const text of [timeLogSumOfV1, timeLogProjectSumsOfV1, timeLogPeriodSumsOfV1, timeLogPageOfV1])
      await runner.query(text(names));
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    for (const name of [names.pageOf, names.periodSumsOf, names.projectSumsOf, names.sumOf])
      await runner.query(`drop function ${name}`);
  }
}
