import type { MigrationInterface, QueryRunner } from 'typeorm';
import { feedNamesIn } from '../feed/feed-names.js';
import { keepTimeLogPositionsV1 } from '../feed/keep-time-log-positions.v1.js';
import { TRANSACTION } from '../feed/positions.v1.js';
import { timeLogEventsV1 } from '../feed/time-log-events.v1.js';

/**
 * The place of each log in the feed. PostgreSQL reads the default once for all logs that are there, and rewrites no
 * row: it takes a moment, whatever the size of the table. `if not exists`: whoever runs a large table may add column
 * and index beforehand.
 */
export class AddTimeLogPositions1764201600000 implements MigrationInterface {
  readonly name = 'AddTimeLogPositions1764201600000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await feedNamesIn(runner);
    // Everybody waits behind a column that waits for its lock.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(
      `alter table ${names.logs} add column if not exists "position" bigint not null default ${TRANSACTION}`,
    );
    for (const text of [timeLogEventsV1, keepTimeLogPositionsV1]) await runner.query(text(names));
  }

  async down(runner: QueryRunner): Promise<void> {
    const { logs, events, keep } = await feedNamesIn(runner);
    await runner.query(`drop function ${events}`);
    await runner.query(`drop function ${keep}`);
    await runner.query(`alter table ${logs} drop column "position"`);
  }
}
