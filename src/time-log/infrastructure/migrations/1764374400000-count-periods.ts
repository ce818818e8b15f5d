import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countNamesIn } from '../counts/count-layout.js';
import { timeLogPageV2 } from '../counts/time-log-page.v2.js';
import { timeLogPageV3 } from '../counts/time-log-page.v3.js';
import { timeLogsBetweenV1 } from '../counts/time-logs-between.v1.js';

/** Counts a period by its own days. The function of pages keeps its name, arguments and result. */
export class CountPeriods1764374400000 implements MigrationInterface {
  readonly name = 'CountPeriods1764374400000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    for (const statement of [timeLogsBetweenV1, timeLogPageV3]) await runner.query(statement(names));
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    await runner.query(timeLogPageV2(names).replace('create function', 'create or replace function'));
    await runner.query(`drop function ${names.between}`);
  }
}
