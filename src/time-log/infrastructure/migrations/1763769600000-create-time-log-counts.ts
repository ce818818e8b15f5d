import type { MigrationInterface, QueryRunner } from 'typeorm';
import { BLOCK, type CountNames, countNamesIn, SPAN } from '../counts/count-layout.js';
import { countTimeLogsV1 } from '../counts/count-time-logs.v1.js';
import { forgetTimeLogCountsV1 } from '../counts/forget-time-log-counts.v1.js';
import { rebuildTimeLogCountsV1 } from '../counts/rebuild-time-log-counts.v1.js';
import { refuseTimeLogCountsV1 } from '../counts/refuse-time-log-counts.v1.js';
import { timeLogCountDifferencesV1 } from '../counts/time-log-count-differences.v1.js';
import { timeLogPageV1 } from '../counts/time-log-page.v1.js';
import { timeLogsSinceV1 } from '../counts/time-logs-since.v1.js';

/**
 * Keeps how many logs there are per day, of each project and of all: any total is a sum of a few rows and any page is
 * found by running totals, whatever the size of the table. Triggers on statements keep the counts in the transaction
 * that changes the logs, whoever changes them.
 *
 * A count is the sum over its slots. A transaction writes to a slot that no other holds at the time, so nobody ever
 * waits for a row of counts; as many slots come to be as transactions have written at the same time.
 */
export class CreateTimeLogCounts1763769600000 implements MigrationInterface {
  readonly name = 'CreateTimeLogCounts1763769600000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    // Writers wait behind a trigger that waits for its lock.
    await runner.query(`set local lock_timeout = '10s'`);
    for (const statement of [
      table,
      guard,
      countTimeLogsV1,
      changeTriggers,
      truncation,
      timeLogCountDifferencesV1,
      rebuildTimeLogCountsV1,
      timeLogsSinceV1,
      timeLogPageV1,
    ]) {
      await runner.query(statement(names));
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    for (const name of ['inserted', 'deleted', 'updated_from', 'updated_to', 'truncated']) {
      await runner.query(`drop trigger count_${name} on ${names.logs}`);
    }
    await runner.query(`drop table ${names.counts}`);
    for (const name of [names.guard, names.count, names.forget, names.differences, names.rebuild]) {
      await runner.query(`drop function ${name}`);
    }
    await runner.query(`drop function ${names.since}`);
    await runner.query(`drop function ${names.page}`);
  }
}

const table = ({ counts }: CountNames) => `
  create table ${counts} (
    of_all boolean not null,
    project_id uuid not null,
    width smallint not null,
    first_day date not null,
    slot smallint not null,
    total bigint not null,
    days integer[],
    constraint time_log_counts_pkey primary key (of_all, project_id, width, first_day, slot)
  ) with (fillfactor = 70);
  comment on table ${counts} is 'Kept by triggers of time_logs. A count is the sum over slots.';
  comment on column ${counts}.of_all is 'Counts all projects together; project_id is nil then.';
  comment on column ${counts}.width is 'Days from first_day on: ${BLOCK}, or ${SPAN} without days.';
  comment on column ${counts}.days is 'The count of each day; null for none.'`;

/** A dump of data alone holds counts too, beside the logs whose insertion counts them again. */
const guard = (names: CountNames) => `${refuseTimeLogCountsV1(names)};
  create trigger refuse_counts before insert on ${names.counts} for each row
    when (current_setting('time_logs.counting', true) is distinct from 'on') execute function ${names.guard}()`;

const changeTriggers = (names: CountNames) => `
  ${changeTrigger(names, 'inserted', 'insert', 'new', 1)};
  ${changeTrigger(names, 'deleted', 'delete', 'old', -1)};
  ${changeTrigger(names, 'updated_from', 'update', 'old', -1)};
  ${changeTrigger(names, 'updated_to', 'update', 'new', 1)}`;

const changeTrigger = (
  { logs, count }: CountNames,
  name: string,
  event: string,
  rows: string,
  sign: number,
) =>
  `create trigger count_${name} after ${event} on ${logs} referencing ${rows} table as changed
     for each statement execute function ${count}('${sign}')`;

const truncation = (names: CountNames) => `${forgetTimeLogCountsV1(names)};
  create trigger count_truncated after truncate on ${names.logs} for each statement execute function ${names.forget}()`;
