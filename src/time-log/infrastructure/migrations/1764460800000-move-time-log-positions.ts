import type { MigrationInterface, QueryRunner } from 'typeorm';
import { feedNamesIn } from '../feed/feed-names.js';
import { keepTimeLogPositionsV1 } from '../feed/keep-time-log-positions.v1.js';
import { keepTimeLogPositionsV2 } from '../feed/keep-time-log-positions.v2.js';
import { moveTimeLogPositionsV1 } from '../feed/move-time-log-positions.v1.js';

/** Notes on which server positions are given out, so that a start on another one moves them. */
export class MoveTimeLogPositions1764460800000 implements MigrationInterface {
  readonly name = 'MoveTimeLogPositions1764460800000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await feedNamesIn(runner);
    for (const text of [moveTimeLogPositionsV1, keepTimeLogPositionsV2]) await runner.query(text(names));
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = await feedNamesIn(runner);
    await runner.query(
      keepTimeLogPositionsV1(names).replace('create function', 'create or replace function'),
    );
    await runner.query(`comment on function ${names.keep}() is null`);
    await runner.query(`drop function ${names.move}`);
  }
}
