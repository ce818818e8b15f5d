import type { MigrationInterface, QueryRunner } from 'typeorm';
import { feedNamesIn } from '../feed/feed-names.js';
import { TRANSACTION } from '../feed/positions.v1.js';

/**
 * The place of each log in the feed. PostgreSQL reads the default once for all logs that are there, and rewrites no
 * row: it takes a moment, whatever the size of the table. `if not exists`: whoever runs a large table may add column
 * and index beforehand.
 */
export class AddTimeLogPositions1764201600000 implements MigrationInterface {
  readonly name = 'AddTimeLogPositions1764201600000';

  async up(runner: QueryRunner): Promise<void> {
    const { logs } = await feedNamesIn(runner);
    // Everybody waits behind a column that waits for its lock.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(
      `alter table ${logs} add column if not exists "position" bigint not null default ${TRANSACTION}`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    const { logs } = await feedNamesIn(runner);
    await runner.query(`alter table ${logs} drop column "position"`);
  }
}
