import type { MigrationInterface, QueryRunner } from 'typeorm';
import { feedNamesIn } from '../feed/feed-names.js';
import { forgetTimeLogDeletionsV1 } from '../feed/forget-time-log-deletions.v1.js';
import { moveTimeLogPositionsV1 } from '../feed/move-time-log-positions.v1.js';
import { moveTimeLogPositionsV2 } from '../feed/move-time-log-positions.v2.js';
import { setTellTriggers } from '../feed/tell-triggers.v1.js';
import { tellTimeLogCorrectionV1 } from '../feed/tell-time-log-correction.v1.js';
import { tellTimeLogDeletionsV1 } from '../feed/tell-time-log-deletions.v1.js';
import { timeLogEventsV2 } from '../feed/time-log-events.v2.js';

/**
 * The feed tells corrections and deletions, whoever makes them. PostgreSQL rewrites no row for the column; what needs
 * the table for itself comes last and takes a moment. Instances of before go on: they tell a corrected log as created,
 * and no deletion.
 */
export class TellCorrections1764547600000 implements MigrationInterface {
  readonly name = 'TellCorrections1764547600000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await feedNamesIn(runner);
    const { logs, deletions, tellCorrection, tellDeletions } = names;
    await runner.query(`
      create table ${deletions} (
        "position" bigint not null,
        id uuid not null,
        project_id uuid,
        deleted_at timestamptz(3) not null,
        constraint time_log_deletions_pkey primary key ("position", id)
      );
      create index time_log_deletions_mark_idx on ${deletions} ("position", id) where project_id is null`);
    for (const text of [tellTimeLogCorrectionV1, tellTimeLogDeletionsV1]) await runner.query(text(names));
    // With the rights of the owner, as those of counts: nobody else may bind it to a table of his own.
    for (const name of [tellCorrection, tellDeletions])
      await runner.query(`revoke execute on function ${name}() from public`);
    // Everybody waits behind a column that waits for its lock.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`alter table ${logs} add column corrected_at timestamptz(3)`);
    await runner.query(`do $$ begin ${setTellTriggers(names)} end $$`);
    for (const text of [timeLogEventsV2, forgetTimeLogDeletionsV1, moveTimeLogPositionsV2])
      await runner.query(text(names));
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = await feedNamesIn(runner);
    for (const name of ['zz_tell_correction', 'tell_deletions', 'tell_new_id', 'tell_truncation'])
      await runner.query(`drop trigger ${name} on ${names.logs}`);
    await runner.query(
      moveTimeLogPositionsV1(names).replace('create function', 'create or replace function'),
    );
    for (const name of [names.eventsV2, names.forgetDeletions, names.tellCorrection, names.tellDeletions])
      await runner.query(`drop function ${name}`);
    await runner.query(`drop table ${names.deletions}`);
    await runner.query(`alter table ${names.logs} drop column corrected_at`);
  }
}
