import type { MigrationInterface, QueryRunner } from 'typeorm';
import { rejectDown } from '../schema/released.js';
import { runText } from '../schema/schema.js';

/** Keeps the ids of a batch with its idempotency key, so that a retry gets the same answer. */
export class KeepIdsOfBatches1766100000000 implements MigrationInterface {
  readonly name = 'KeepIdsOfBatches1766100000000';

  up(runner: QueryRunner): Promise<void> {
    return runText(
      runner,
      `set local lock_timeout = '10s'; alter table {{time_log_keys}} add column if not exists time_log_ids uuid[]`,
    );
  }

  readonly down = rejectDown;
}
