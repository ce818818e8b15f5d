import type { QueryRunner } from 'typeorm';
import { fullyQualified } from '../../../database/index.js';

// Released SQL texts are made of these, so they never change. A new value needs a new name.

/** A block: the days that one row counts one by one. A span: the days that a row of the next level sums (11 years). */
export const BLOCK = 32;
export const SPAN = 128 * BLOCK;
/** Blocks and spans are numbered from here. */
export const FIRST = `date '0001-01-01'`;
/** The project of rows that count all projects together. */
export const NIL = `uuid '00000000-0000-0000-0000-000000000000'`;
/** The days of a block. */
export const DAYS = Array.from({ length: BLOCK }, (_, index) => index);
/** The rows of one project, or of all where it is null. */
export const KEY = `of_all = (project is null) and project_id = coalesce(project, ${NIL})`;
/** The rows of some projects, each with its own. */
export const KEY_OF_SEVERAL = `not of_all and project_id = any(projects)`;
/** A function that runs with its owner's rights only finds what it names in full. */
export const AS_OWNER = `security definer set search_path = pg_catalog, pg_temp`;
/**
 * PostgreSQL plans it once a session, and always along an index: what a page costs must not depend on statistics that
 * are stale or missing.
 */
export const ALONG_INDEXES = `set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off`;

/** The names in the texts, quoted, with the schema and the prefix of the DataSource. */
export type CountNames = Awaited<ReturnType<typeof countNamesIn>>;

export async function countNamesIn(runner: QueryRunner) {
  const name = (text: string) => fullyQualified(runner, text);
  return {
    logs: await name('time_logs'),
    counts: await name('time_log_counts'),
    guard: await name('refuse_time_log_counts'),
    count: await name('count_time_logs'),
    forget: await name('forget_time_log_counts'),
    differences: await name('time_log_count_differences'),
    differencesV2: await name('time_log_count_differences_v2'),
    rebuild: await name('rebuild_time_log_counts'),
    fold: await name('fold_time_log_counts'),
    since: await name('time_logs_since'),
    between: await name('time_logs_between'),
    page: await name('time_log_page'),
    pageV2: await name('time_log_page_v2'),
    pageOf: await name('time_log_page_of'),
    sum: await name('time_log_sum'),
    sumOf: await name('time_log_sum_of'),
    projectSums: await name('time_log_project_sums'),
    projectSumsOf: await name('time_log_project_sums_of'),
    periodSums: await name('time_log_period_sums'),
    periodSumsOf: await name('time_log_period_sums_of'),
  };
}
