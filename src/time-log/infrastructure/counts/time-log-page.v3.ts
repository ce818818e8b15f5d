import { ALONG_INDEXES, BLOCK, type CountNames, FIRST, KEY, SPAN } from './count-layout.js';

const numberOf = (width: number, day: string) => `(${day} - ${FIRST}) / ${width}`;
const blockOf = (day: string) => `${FIRST} + ${numberOf(BLOCK, day)} * ${BLOCK}`;

/**
 * Goes down to the day on which the page begins, through spans, the blocks of one, and the days of one. What is left of
 * `rank` is an offset in that day. In a period of one span the walk begins with the blocks, at the last day.
 */
const walkToRank = (counts: string) => `\
      if in_span then
        oldest_block := ${blockOf('first_day')};
        newest_block := ${blockOf('last_day')};
        cut_block := newest_block;
      else
        for bucket in
          select counts.first_day, sum(counts.total) as n from ${counts} counts
           where ${KEY} and width = ${SPAN} group by 1 order by 1 desc
        loop
          exit when rank < bucket.n;
          rank := rank - bucket.n;
        end loop;
        oldest_block := bucket.first_day;
        newest_block := bucket.first_day + ${SPAN - BLOCK};
      end if;
      for bucket in
        select counts.first_day, coalesce(sum(case when counts.first_day = cut_block
                 then (select sum(n) from unnest(days[:last_day - cut_block + 1]) n) else counts.total end), 0) as n
          from ${counts} counts
         where ${KEY} and width = ${BLOCK} and counts.first_day >= oldest_block and counts.first_day <= newest_block
         group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
      for bucket in
        select counts.first_day + day::integer - 1 as date, sum(n) as n
          from ${counts} counts
         cross join unnest(days[:case when bucket.first_day = cut_block then last_day - cut_block + 1 else ${BLOCK} end])
               with ordinality as numbered (n, day)
         where ${KEY} and width = ${BLOCK} and counts.first_day = bucket.first_day and n is not null
         group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
`;

/**
 * Runs a statement with a direction and an offset, from the nearer end of the day. Wrong counts may make the page
 * wrong, but no offset negative: that would be an error.
 */
export const fromNearerEnd = (statement: (direction: 'desc' | 'asc', offset: string) => string) => `\
      if rank < bucket.n / 2 then
        ${statement('desc', 'greatest(rank, 0)')};
      else
        ${statement('asc', 'greatest(bucket.n - 1 - rank, 0)')};
      end if;`;

/**
 * `column = value`, written as a range. With `=` PostgreSQL drops the column from `order by`, and may then read in the
 * order of another index.
 */
export const bounded = (column: string, value: string) => `${column} >= ${value} and ${column} <= ${value}`;

/** The logs of the day, and their order. */
export const ON_DAY = bounded('log.date', 'bucket.date');
export const inDay = (direction: string) => `log.date ${direction}, log.id ${direction}`;

/** The logs of the page from its first log on, or the first page. */
const readPage = (logs: string, ofProject = '') => `\
      if skipped > 0 then
${fromNearerEnd(
  (direction, offset) => `select log.date, log.id into start_date, start_id from ${logs} log
         where ${ofProject}${ON_DAY} order by ${inDay(direction)} offset ${offset} limit 1`,
)}
      end if;
      return query
        select null::bigint, log from ${logs} log
         where ${ofProject}(log.date, log.id) <= (start_date, start_id) and log.date >= coalesce(first_day, '-infinity')
         order by log.date desc, log.id desc limit page_limit;`;

/**
 * As version 2, but a page that begins in the midst of a day steps over the logs of that day from the nearer end, so at
 * most over half of them. And a period in one span is walked back from its last day: nobody counts what is newer.
 */
export const timeLogPageV3 = ({ logs, counts, since, between, pageV2 }: CountNames) => `
  create or replace function ${pageV2}(project uuid, first_day date, last_day date, skipped bigint, page_limit integer)
    returns table (total bigint, log ${logs})
    stable language plpgsql ${ALONG_INDEXES} as $$
  #variable_conflict use_column
  declare
    in_span boolean := coalesce(${numberOf(SPAN, 'first_day')} = ${numberOf(SPAN, 'last_day')}, false);
    newer bigint := case when skipped > 0 and last_day is not null and not in_span
                         then ${since}(project, last_day + 1) end;
    -- How many logs stand before the page: at first in all days, or in the period where it is in one span; then in what
    -- the walk has reached.
    rank bigint := coalesce(newer, 0) + skipped;
    bucket record;
    oldest_block date;
    newest_block date;
    -- Of this block only the days up to the last one count.
    cut_block date;
    start_date date := coalesce(last_day, 'infinity');
    start_id uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  begin
    total := case when newer is null then ${between}(project, first_day, last_day)
                  else ${since}(project, coalesce(first_day, ${FIRST})) - newer end;
    return next;
    if skipped >= total then
      return;
    end if;
    total := null;
    if skipped > 0 then
${walkToRank(counts)}    end if;
    if project is null then
${readPage(logs)}
    else
${readPage(logs, 'log.project_id = project and ')}
    end if;
  end $$`;
