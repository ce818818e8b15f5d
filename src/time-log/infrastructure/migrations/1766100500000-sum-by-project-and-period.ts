import type { MigrationInterface, QueryRunner } from 'typeorm';
import { rejectDown } from '../schema/released.js';
import { runText } from '../schema/schema.js';
import { TEXTS } from '../schema/texts.js';

/** Adds sums by project and period. It replaces functions alone, so no writer waits for it. */
export class SumByProjectAndPeriod1766100500000 implements MigrationInterface {
  readonly name = 'SumByProjectAndPeriod1766100500000';

  async up(runner: QueryRunner): Promise<void> {
    for (const text of [TEXTS.totals!, TEXTS.compatible!]) await runText(runner, text);
    // No release has it.
    await runText(
      runner,
      'drop function if exists {{page_time_log_period_sums}}(uuid[], date, date, text, bigint, integer)',
    );
  }

  readonly down = rejectDown;
}
