import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isCurrent, rejectDown } from '../schema/released.js';
import { replaceFunctions, runText } from '../schema/schema.js';
import { TEXTS } from '../schema/texts.js';

/**
 * Counts by month instead of blocks of 32 days. Only writers wait while the counts are converted.
 * Instances of version 0.2 continue to work with functions of the same names.
 */
export class CountByMonth1766000000000 implements MigrationInterface {
  readonly name = 'CountByMonth1766000000000';

  async up(runner: QueryRunner): Promise<void> {
    if (await isCurrent(runner)) return;
    await runText(
      runner,
      `set local lock_timeout = '10s'; lock table {{time_logs}} in share row exclusive mode`,
    );
    await runText(runner, TEXTS.counts!);
    await replaceFunctions(runner);
    await runText(
      runner,
      `set local time_logs.counting = 'on'; ${TEXTS['count-by-month']}; set local time_logs.counting = ''`,
    );
  }

  readonly down = rejectDown;
}
