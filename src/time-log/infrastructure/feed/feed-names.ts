import type { QueryRunner } from 'typeorm';
import { fullyQualified } from '../../../database/index.js';

/** The names in the texts, quoted, with the schema and the prefix of the DataSource. */
export type FeedNames = Awaited<ReturnType<typeof feedNamesIn>>;

export async function feedNamesIn(runner: QueryRunner) {
  const name = (text: string) => fullyQualified(runner, text);
  return {
    logs: await name('time_logs'),
    deletions: await name('time_log_deletions'),
    events: await name('time_log_events'),
    tellCorrection: await name('tell_time_log_correction'),
    forgetDeletions: await name('forget_time_log_deletions'),
    tellDeletions: await name('tell_time_log_deletions'),
    dropLogs: await name('drop_time_logs'),
    keep: await name('keep_time_log_positions'),
    move: await name('move_time_log_positions'),
  };
}
