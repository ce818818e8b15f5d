import { type CountNames, FIRST } from './count-layout.js';
import { ALONG_INDEXES, readPage, walkToRank } from './time-log-page.v2.js';

/**
 * The function of version 2 with a shorter way to the first page of a period: it need not know how many logs are newer.
 * Name, arguments and result are the same, so instances of both versions call it.
 */
export const timeLogPageV3 = ({ logs, counts, since, between, pageV2 }: CountNames) => `
  create or replace function ${pageV2}(project uuid, first_day date, last_day date, skipped bigint, page_limit integer)
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
