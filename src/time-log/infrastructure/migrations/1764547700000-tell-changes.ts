import type { MigrationInterface, QueryRunner } from 'typeorm';
import { dropTimeLogsV1 } from '../feed/drop-time-logs.v1.js';
import { feedNamesIn } from '../feed/feed-names.js';
import { forgetTimeLogDeletionsV1 } from '../feed/forget-time-log-deletions.v1.js';
import { keepTimeLogPositionsV1 } from '../feed/keep-time-log-positions.v1.js';
import { moveTimeLogPositionsV1 } from '../feed/move-time-log-positions.v1.js';
import { tellTimeLogCorrectionV1 } from '../feed/tell-time-log-correction.v1.js';
import { tellTimeLogDeletionsV1 } from '../feed/tell-time-log-deletions.v1.js';
import { setTellTriggers } from '../feed/tell-triggers.v1.js';
import { timeLogEventsV1 } from '../feed/time-log-events.v1.js';

/**
 * The feed tells every log, its corrections and its deletion, whoever makes them. PostgreSQL rewrites no row for the
 * column; what needs the table for itself comes last and takes a moment.
 */
export class TellChanges1764547700000 implements MigrationInterface {
  readonly name = 'TellChanges1764547700000';

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
    for (const text of [
      tellTimeLogCorrectionV1,
      tellTimeLogDeletionsV1,
      timeLogEventsV1,
      forgetTimeLogDeletionsV1,
      dropTimeLogsV1,
      moveTimeLogPositionsV1,
      keepTimeLogPositionsV1,
    ]) {
      await runner.query(text(names));
    }
    // With the rights of the owner, as those of counts: nobody else may bind it to a table of his own.
    for (const name of [tellCorrection, tellDeletions])
      await runner.query(`revoke execute on function ${name}() from public`);
    // Everybody waits behind a column that waits for its lock.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`alter table ${logs} add column corrected_at timestamptz(3)`);
    await runner.query(`do $$ begin ${setTellTriggers(names)} end $$`);
  }

  /** What readers were told of deletions goes: whoever follows begins anew, and is not told so. */
  async down(runner: QueryRunner): Promise<void> {
    const names = await feedNamesIn(runner);
    const { logs, deletions, events, forgetDeletions, dropLogs, move, keep, tellCorrection, tellDeletions } =
      names;
    for (const name of ['zz_tell_correction', 'tell_deletions', 'tell_new_id', 'tell_truncation'])
      await runner.query(`drop trigger ${name} on ${logs}`);
    for (const name of [keep, move, dropLogs, forgetDeletions, events, tellCorrection, tellDeletions])
      await runner.query(`drop function ${name}`);
    await runner.query(`drop table ${deletions}`);
    await runner.query(`alter table ${logs} drop column corrected_at`);
  }
}
