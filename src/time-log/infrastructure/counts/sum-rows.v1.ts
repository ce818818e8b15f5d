import { BLOCK, type CountNames, FIRST, SPAN } from './count-layout.js';

// Parts of version 1 of the functions that sum.

/**
 * PostgreSQL plans once a session, and by the key: the cost must not depend on statistics that are stale or missing.
 */
const BY_THE_KEY = `set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off`;
/** For a few rows. */
export const ALONG_THE_KEY = `${BY_THE_KEY} set enable_bitmapscan = off`;
/** For many rows: their places are collected first, so that each page of the table is read once. */
export const PAGE_BY_PAGE = `${BY_THE_KEY} set enable_indexscan = off`;

/** The end of the last span that has days. */
const END = `${FIRST} + ${892 * SPAN}`;

const startOf = (width: number, day: string) => `${day} - (${day} - ${FIRST}) % ${width}`;
const startFrom = (width: number, day: string) => startOf(width, `(${day} + ${width - 1})`);

/**
 * The parts of a period (null: open): blocks until `spans`, whole spans until `rest`, and blocks until `beyond`, the
 * day after the last. A period without a whole span is all in the first part.
 */
export const PARTS_DECLARED = `
    first date := coalesce(oldest, ${FIRST});
    beyond date := coalesce(newest + 1, ${END});
    has_spans boolean := ${startFrom(SPAN, 'first')} < ${startOf(SPAN, 'beyond')};
    spans date := case when has_spans then ${startFrom(SPAN, 'first')} else beyond end;
    rest date := case when has_spans then ${startOf(SPAN, 'beyond')} else beyond end;`;

/** The days of a block that lie in a part. */
const within = (days: string, from: string, to: string) =>
  `${days}[${from} - first_day + 1 : ${to} - first_day]`;

/** Of a block that lies in a part as a whole its sums, else those of its days, counts and durations read together. */
const blocks = (counts: string, key: string, from: string, to: string) => `
      select project_id, in_part.n, in_part.duration
        from ${counts} counts cross join lateral (
          select counts.total, counts.duration where first_day >= ${from} and first_day + ${BLOCK} <= ${to}
          union all
          select sum(n), sum(value) from unnest(${within('days', from, to)}, ${within('durations', from, to)}) as day (n, value)
           where not (first_day >= ${from} and first_day + ${BLOCK} <= ${to})
        ) in_part (n, duration)
       where ${from} < ${to} and ${key} and width = ${BLOCK}
         and first_day >= ${startOf(BLOCK, from)} and first_day < ${to}`;

/** Counts and sums in a period, (project_id, n, duration), of the rows with a key. */
export const inPeriod = ({ counts }: CountNames, key: string) => `
      select project_id, total as n, duration from ${counts}
       where has_spans and ${key} and width = ${SPAN} and first_day >= spans and first_day < rest
      union all ${blocks(counts, key, 'first', 'spans')}
      union all ${blocks(counts, key, 'rest', 'beyond')}`;
