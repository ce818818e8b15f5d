import { BLOCK, type CountNames, DAYS } from './count-layout.js';
import { summed } from './count-rows.v2.js';

/** What is left of a column by days, null for nothing. */
const left = (column: string) => `array[
               ${DAYS.map((day) => `nullif(sum(sign * ${column}[${day + 1}]), 0)`).join()}
             ]`;

/**
 * What must be added to counts and sums to make them right; empty where they are. One snapshot, whoever writes
 * meanwhile. It stands beside version 1, which tells an instance of 0.1 about the counts alone.
 */
export const timeLogCountDifferencesV2 = ({ logs, counts, differencesV2 }: CountNames) => `
  create function ${differencesV2}()
    returns table (of_all boolean, project_id uuid, width integer, first_day date,
                   total bigint, duration numeric, days integer[], durations numeric[])
    stable language sql as $$
    select * from (
      select of_all, project_id, width, first_day, sum(sign * total)::bigint as total, sum(sign * duration) as duration,
             case when width = ${BLOCK} then ${left('days')}::integer[] end as days,
             case when width = ${BLOCK} then ${left('durations')} end as durations
        from (select 1 as sign, * from (
                ${summed(`select project_id, date, count(*)::integer as n, sum(duration) as duration from ${logs} group by 1, 2`)}) found
              union all
              select -1, of_all, project_id, width, first_day, total, duration, days, durations from ${counts}) compared
       group by of_all, project_id, width, first_day) summed
     where total <> 0 or duration <> 0 or array_remove(days, null) <> '{}' or array_remove(durations, null) <> '{}'
  $$`;
