import type { MigrationInterface, QueryRunner } from 'typeorm';
import { dropTimeLogsV1 } from '../feed/drop-time-logs.v1.js';
import { feedNamesIn } from '../feed/feed-names.js';
import { tellTimeLogDeletionsV1 } from '../feed/tell-time-log-deletions.v1.js';
import { tellTimeLogDeletionsV2 } from '../feed/tell-time-log-deletions.v2.js';

/** For the command that drops logs of before a day. It changes no table, and nobody waits. */
export class DropTimeLogs1764979200000 implements MigrationInterface {
  readonly name = 'DropTimeLogs1764979200000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await feedNamesIn(runner);
    for (const text of [tellTimeLogDeletionsV2, dropTimeLogsV1]) await runner.query(text(names));
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = await feedNamesIn(runner);
    await runner.query(`drop function ${names.dropLogs}`);
    await runner.query(
      tellTimeLogDeletionsV1(names).replace('create function', 'create or replace function'),
    );
  }
}
