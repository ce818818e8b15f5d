import type { MigrationInterface, QueryRunner } from 'typeorm';
import { rejectDown } from '../schema/released.js';
import { runText } from '../schema/schema.js';

/** Keeps the values that hooks have replaced with an idempotency key, so that a retry gets the same answer. */
export class KeepReplacedValues1766100600000 implements MigrationInterface {
  readonly name = 'KeepReplacedValues1766100600000';

  up(runner: QueryRunner): Promise<void> {
    return runText(
      runner,
      `set local lock_timeout = '10s'; alter table {{time_log_keys}} add column if not exists replaced json`,
    );
  }

  readonly down = rejectDown;
}
