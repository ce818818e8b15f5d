import type { MigrationInterface, QueryRunner } from 'typeorm';
import { feedNamesIn } from '../feed/feed-names.js';

/**
 * The order of the feed. A migration of its own: writers wait while the index is built, and readers should not wait
 * with them. CONCURRENTLY would keep nobody waiting, but cannot run in a transaction, in which hosts run all their
 * migrations; whoever has so many logs that it matters builds the index like that beforehand.
 */
export class IndexTimeLogPositions1764201700000 implements MigrationInterface {
  readonly name = 'IndexTimeLogPositions1764201700000';

  async up(runner: QueryRunner): Promise<void> {
    const { logs } = await feedNamesIn(runner);
    // Writers wait behind an index that waits for its lock.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`create index if not exists time_logs_position_id_idx on ${logs} ("position", id)`);
  }

  async down(): Promise<void> {
    // The index goes with its column.
  }
}
