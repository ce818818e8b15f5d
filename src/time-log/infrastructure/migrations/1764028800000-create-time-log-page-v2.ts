import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countNamesIn } from '../counts/count-layout.js';
import { timeLogPageV2 } from '../counts/time-log-page.v2.js';

/**
 * Pages of whole rows. The function of before stays: instances of version 0.1 call it until the last of them has
 * ended.
 */
export class CreateTimeLogPageV21764028800000 implements MigrationInterface {
  readonly name = 'CreateTimeLogPageV21764028800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(timeLogPageV2(await countNamesIn(runner)));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop function ${(await countNamesIn(runner)).pageV2}`);
  }
}
