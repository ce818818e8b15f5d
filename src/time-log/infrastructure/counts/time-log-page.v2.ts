import { ALONG_INDEXES, BLOCK, type CountNames, FIRST, KEY, SPAN } from './count-layout.js';

/** Goes down to the day on which the page begins. What is left of `rank` is an offset in that day. */
export const walkToRank = (counts: string, key = KEY) => `\
      for bucket in
        select counts.first_day, sum(counts.total) as n from ${counts} counts
         where ${key} and width = ${SPAN} group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
      for bucket in
        select counts.first_day, sum(counts.total) as n from ${counts} counts
         where ${key} and width = ${BLOCK}
           and counts.first_day >= bucket.first_day and counts.first_day < bucket.first_day + ${SPAN}
         group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
      for bucket in
        select counts.first_day + day::integer - 1 as date, sum(n) as n
          from ${counts} counts cross join unnest(days) with ordinality as numbered (n, day)
         where ${key} and width = ${BLOCK} and counts.first_day = bucket.first_day and n is not null
         group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
`;

/** The page from there on, or the first one. */
const readPage = (logs: string) => `\
    if project is null then
      if skipped > 0 then
        select log.date, log.id into start_date, start_id from ${logs} log
         where log.date = bucket.date order by log.id desc offset rank limit 1;
      end if;
      return query
        select null::bigint, log from ${logs} log
         where (log.date, log.id) <= (start_date, start_id) and log.date >= coalesce(first_day, '-infinity')
         order by log.date desc, log.id desc limit page_limit;
    else
      if skipped > 0 then
        select log.date, log.id into start_date, start_id from ${logs} log
         where log.project_id = project and log.date = bucket.date order by log.id desc offset rank limit 1;
      end if;
      return query
        select null::bigint, log from ${logs} log
         where log.project_id = project
           and (log.date, log.id) <= (start_date, start_id) and log.date >= coalesce(first_day, '-infinity')
         order by log.date desc, log.id desc limit page_limit;
    end if;
`;

/**
 * A row with the total of a period (null: open) and nothing else, then the logs of the page that begins after
 * `skipped` logs, newest first. STABLE: all of it sees what the statement sees that calls it. Rows come whole, so that
 * a new column needs no new version. They come in a column: as a set of rows they would fail each list that waits
 * while the column is added. Who wants the first page of a period need not know how many logs are newer. It stands
 * beside version 1, which an instance of 0.1 calls while it is replaced.
 */
export const timeLogPageV2 = ({ logs, counts, since, between, pageV2 }: CountNames) => `
  create function ${pageV2}(project uuid, first_day date, last_day date, skipped bigint, page_limit integer)
    returns table (total bigint, log ${logs})
    stable language plpgsql ${ALONG_INDEXES} as $$
  #variable_conflict use_column
  declare
    newer bigint := case when skipped > 0 and last_day is not null then ${since}(project, last_day + 1) end;
    -- How many logs are newer than the first of the page: within all days, then within one span, one block, one day.
    rank bigint := coalesce(newer, 0) + skipped;
    bucket record;
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
${readPage(logs)}  end $$`;
