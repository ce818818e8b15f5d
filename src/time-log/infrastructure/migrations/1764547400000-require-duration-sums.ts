import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countNamesIn } from '../counts/count-layout.js';

/**
 * A rebuild of before that has waited meanwhile would add rows that have no sums: it fails instead, and is made again.
 * On its own, since it keeps lists out: with the lock on the logs, whoever lists and then writes would wait in a
 * circle.
 */
export class RequireDurationSums1764547400000 implements MigrationInterface {
  readonly name = 'RequireDurationSums1764547400000';

  async up(runner: QueryRunner): Promise<void> {
    const { counts } = await countNamesIn(runner);
    // Everybody waits behind a column that waits for its lock.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(
      `alter table ${counts} alter column duration drop default, alter column durations drop default`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    const { counts } = await countNamesIn(runner);
    await runner.query(
      `alter table ${counts} alter column duration set default 0, alter column durations set default '{null}'`,
    );
  }
}
