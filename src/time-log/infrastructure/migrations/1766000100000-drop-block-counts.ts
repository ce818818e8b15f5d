import type { MigrationInterface, QueryRunner } from 'typeorm';
import { rejectDown } from '../schema/released.js';
import { runText } from '../schema/schema.js';

/** Removes the counts by block, and the functions that only instances of version 0.1 called. */
export class DropBlockCounts1766000100000 implements MigrationInterface {
  readonly name = 'DropBlockCounts1766000100000';

  up(runner: QueryRunner): Promise<void> {
    // A list that started before its function was replaced may still read the table.
    return runText(
      runner,
      `set local lock_timeout = '10s';
       drop table if exists {{time_log_counts}};
       drop function if exists {{time_log_page}}(uuid, date, date, bigint, integer),
         {{time_logs_between}}(uuid, date, date), {{time_log_count_differences}}()`,
    );
  }

  readonly down = rejectDown;
}
