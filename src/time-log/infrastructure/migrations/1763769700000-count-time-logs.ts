import type { MigrationInterface, QueryRunner } from 'typeorm';
import { fullyQualified } from '../../../database/index.js';

/** Counts the logs of before the triggers: a migration of its own, so that nobody who writes waits while it reads them all. */
export class CountTimeLogs1763769700000 implements MigrationInterface {
  readonly name = 'CountTimeLogs1763769700000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`select ${await fullyQualified(runner, 'rebuild_time_log_counts')}()`);
  }

  async down(): Promise<void> {
    // The counts go with their table.
  }
}
