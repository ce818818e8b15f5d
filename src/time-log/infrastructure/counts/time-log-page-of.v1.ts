import { ALONG_INDEXES, type CountNames, KEY_OF_SEVERAL } from './count-layout.js';
import { walkToRank } from './time-log-page.v2.js';

/**
 * The page of some projects, as `time_log_page_v2` gives that of one or all. Each project's part of the index is read
 * for a page, and the newest of these logs are the page: so it costs projects times the logs of a page, however many
 * there are.
 */
export const timeLogPageOfV1 = ({ logs, counts, sumOf, pageOf }: CountNames) => `
  create function ${pageOf}(projects uuid[], first_day date, last_day date, skipped bigint, page_limit integer)
    returns table (total bigint, log ${logs})
    stable language plpgsql ${ALONG_INDEXES} as $$
  #variable_conflict use_column
  declare
    -- How many logs are newer than the first of the page: within all days, then within one span, one block, one day.
    rank bigint := skipped + case when skipped > 0 and last_day is not null
                                  then (select n from ${sumOf}(projects, last_day + 1, null)) else 0 end;
    bucket record;
    start_date date := coalesce(last_day, 'infinity');
    start_id uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  begin
    total := (select n from ${sumOf}(projects, first_day, last_day));
    return next;
    if skipped >= total then
      return;
    end if;
    total := null;
    if skipped > 0 then
${walkToRank(counts, KEY_OF_SEVERAL)}\
      select log.date, log.id into start_date, start_id from ${logs} log
       where log.project_id = any(projects) and log.date = bucket.date order by log.id desc offset rank limit 1;
    end if;
    return query
      select null::bigint, whole.log
        from (
          select place.date, place.id
            from (select distinct project from unnest(projects) project) each
           cross join lateral (
             select log.date, log.id from ${logs} log
              where log.project_id = each.project
                and (log.date, log.id) <= (start_date, start_id) and log.date >= coalesce(first_day, '-infinity')
              order by log.date desc, log.id desc limit page_limit
           ) place
           order by 1 desc, 2 desc limit page_limit
        ) page
       cross join lateral (select log from ${logs} log where log.id = page.id) whole
       order by page.date desc, page.id desc;
  end $$`;
