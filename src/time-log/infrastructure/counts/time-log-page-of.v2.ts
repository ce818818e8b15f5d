import { ALONG_INDEXES, type CountNames, KEY_OF_SEVERAL } from './count-layout.js';
import { walkToRank } from './time-log-page.v2.js';
import { bounded, fromNearerEnd, inDay, ON_DAY } from './time-log-page.v3.js';

const EACH = '(select distinct project from unnest(projects) project) each';

/**
 * As version 1, but where the page begins in the midst of a day it reads logs of these projects alone: of each as many
 * as there are to step over, from the nearer end of the day. Version 1 read those of all projects.
 */
export const timeLogPageOfV2 = ({ logs, counts, sumOf, pageOf }: CountNames) => `
  create or replace function ${pageOf}(projects uuid[], first_day date, last_day date, skipped bigint, page_limit integer)
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
      start_date := bucket.date;
${fromNearerEnd(
  (direction, offset) => `select place.id into start_id
          from ${EACH}
         cross join lateral (
           select log.id from ${logs} log
            where log.project_id = each.project and ${ON_DAY}
            order by ${inDay(direction)} limit ${offset} + 1
         ) place
         order by place.id ${direction} offset ${offset} limit 1`,
)}
    end if;
    return query
      select null::bigint, whole.log
        from (
          select place.date, place.id
            from ${EACH}
           cross join lateral (
             select log.date, log.id from ${logs} log
              where log.project_id = each.project
                and (log.date, log.id) <= (start_date, start_id) and log.date >= coalesce(first_day, '-infinity')
              order by log.date desc, log.id desc limit page_limit
           ) place
           order by 1 desc, 2 desc limit page_limit
        ) page
       cross join lateral (
         select log from ${logs} log where ${bounded('log.id', 'page.id')} order by log.id limit 1
       ) whole
       order by page.date desc, page.id desc;
  end $$`;
