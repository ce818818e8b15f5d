import type { MigrationInterface, QueryRunner } from 'typeorm';
import { feedNamesIn } from '../feed/feed-names.js';

/**
 * What a host keeps with its logs. Null for all that are there: PostgreSQL rewrites no row, and a row with null takes
 * no more room. The functions that read logs return whole rows, and the triggers compare whole rows.
 */
export class AddTimeLogAttributes1764892800000 implements MigrationInterface {
  readonly name = 'AddTimeLogAttributes1764892800000';

  async up(runner: QueryRunner): Promise<void> {
    const { logs } = await feedNamesIn(runner);
    // Everybody waits behind a column that waits for its lock.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`alter table ${logs} add column attributes jsonb`);
  }

  async down(runner: QueryRunner): Promise<void> {
    const { logs } = await feedNamesIn(runner);
    await runner.query(`alter table ${logs} drop column attributes`);
  }
}
