import { ALONG_INDEXES, BLOCK, type CountNames, FIRST, KEY, SPAN } from './count-layout.js';

/**
 * A row with the total of a period (null: open) and nothing else, then the logs of the page that begins after
 * \`skipped\` logs, newest first. STABLE: all of it sees what the statement sees that calls it.
 */
export const timeLogPageV1 = ({ logs, counts, since, page }: CountNames) => `
  create function ${page}(project uuid, first_day date, last_day date, skipped bigint, page_limit integer)
    returns table (total bigint, id uuid, project_id uuid, duration numeric, description text, date text)
    stable language plpgsql ${ALONG_INDEXES} set datestyle = 'ISO' as $$
  #variable_conflict use_column
  declare
    newer bigint := case when last_day is null then 0 else ${since}(project, last_day + 1) end;
    -- How many logs are newer than the first of the page: within all days, then within one span, one block, one day.
    rank bigint := newer + skipped;
    bucket record;
    start_date date := coalesce(last_day, 'infinity');
    start_id uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  begin
    total := ${since}(project, coalesce(first_day, ${FIRST})) - newer;
    return next;
    if skipped >= total then
      return;
    end if;
    total := null;
    if skipped > 0 then
      for bucket in
        select counts.first_day, sum(counts.total) as n from ${counts} counts
         where ${KEY} and width = ${SPAN} group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
      for bucket in
        select counts.first_day, sum(counts.total) as n from ${counts} counts
         where ${KEY} and width = ${BLOCK}
           and counts.first_day >= bucket.first_day and counts.first_day < bucket.first_day + ${SPAN}
         group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
      for bucket in
        select counts.first_day + day::integer - 1 as date, sum(n) as n
          from ${counts} counts cross join unnest(days) with ordinality as numbered (n, day)
         where ${KEY} and width = ${BLOCK} and counts.first_day = bucket.first_day and n is not null
         group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
    end if;
    if project is null then
      if skipped > 0 then
        select log.date, log.id into start_date, start_id from ${logs} log
         where log.date = bucket.date order by log.id desc offset rank limit 1;
      end if;
      return query
        select null::bigint, log.id, log.project_id, log.duration, log.description, log.date::text from ${logs} log
         where (log.date, log.id) <= (start_date, start_id) and log.date >= coalesce(first_day, '-infinity')
         order by log.date desc, log.id desc limit page_limit;
    else
      if skipped > 0 then
        select log.date, log.id into start_date, start_id from ${logs} log
         where log.project_id = project and log.date = bucket.date order by log.id desc offset rank limit 1;
      end if;
      return query
        select null::bigint, log.id, log.project_id, log.duration, log.description, log.date::text from ${logs} log
         where log.project_id = project
           and (log.date, log.id) <= (start_date, start_id) and log.date >= coalesce(first_day, '-infinity')
         order by log.date desc, log.id desc limit page_limit;
    end if;
  end $$`;
