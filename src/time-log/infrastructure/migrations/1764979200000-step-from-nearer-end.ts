import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countNamesIn } from '../counts/count-layout.js';
import { timeLogPageOfV1 } from '../counts/time-log-page-of.v1.js';
import { timeLogPageOfV2 } from '../counts/time-log-page-of.v2.js';
import { timeLogPageV2 } from '../counts/time-log-page.v2.js';
import { timeLogPageV3 } from '../counts/time-log-page.v3.js';

/**
 * Pages in the midst of a day or of a period read less. Nobody waits, and instances of before get the same pages by the
 * same functions.
 */
export class StepFromNearerEnd1764979200000 implements MigrationInterface {
  readonly name = 'StepFromNearerEnd1764979200000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    for (const text of [timeLogPageV3, timeLogPageOfV2]) await runner.query(text(names));
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    for (const text of [timeLogPageV2, timeLogPageOfV1])
      await runner.query(text(names).replace('create function', 'create or replace function'));
  }
}
