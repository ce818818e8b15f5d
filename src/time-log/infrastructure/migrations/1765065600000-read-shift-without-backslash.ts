import type { MigrationInterface, QueryRunner } from 'typeorm';
import { dropTimeLogsV1 } from '../feed/drop-time-logs.v1.js';
import { feedNamesIn } from '../feed/feed-names.js';
import { forgetTimeLogDeletionsV1 } from '../feed/forget-time-log-deletions.v1.js';
import { moveTimeLogPositionsV1 } from '../feed/move-time-log-positions.v1.js';
import {
  dropTimeLogsV2,
  forgetTimeLogDeletionsV2,
  mendTellTriggers,
  moveTimeLogPositionsV2,
  timeLogEventsV2,
} from '../feed/positions.v2.js';
import { timeLogEventsV1 } from '../feed/time-log-events.v1.js';

/**
 * After a move the feed has new logs and changes, however the server reads a backslash. It takes a moment, and only
 * where a move has set the triggers wrong it locks the table.
 */
export class ReadShiftWithoutBackslash1765065600000 implements MigrationInterface {
  readonly name = 'ReadShiftWithoutBackslash1765065600000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await feedNamesIn(runner);
    for (const text of [dropTimeLogsV2, forgetTimeLogDeletionsV2, moveTimeLogPositionsV2, timeLogEventsV2])
      await runner.query(text(names));
    await runner.query(mendTellTriggers(names));
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = await feedNamesIn(runner);
    for (const text of [dropTimeLogsV1, forgetTimeLogDeletionsV1, moveTimeLogPositionsV1, timeLogEventsV1])
      await runner.query(text(names).replace('create function', 'create or replace function'));
  }
}
