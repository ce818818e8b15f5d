import { BLOCK, type CountNames, DAYS } from './count-layout.js';
import { counted } from './count-rows.v1.js';

/**
 * What must be added to the counts to make them right; empty where they are. One snapshot, whoever writes meanwhile.
 */
export const timeLogCountDifferencesV1 = ({ logs, counts, differences }: CountNames) => `
  create function ${differences}()
    returns table (of_all boolean, project_id uuid, width integer, first_day date, total bigint, days integer[])
    stable language sql as $$
    select * from (
      select of_all, project_id, width, first_day, sum(sign * total)::bigint as total,
             case when width = ${BLOCK} then array[
               ${DAYS.map((day) => `nullif(sum(sign * days[${day + 1}]), 0)`).join()}
             ]::integer[] end as days
        from (select 1 as sign, * from (
                ${counted(`select project_id, date, count(*)::integer as n from ${logs} group by 1, 2`)}) found
              union all
              select -1, of_all, project_id, width, first_day, total, days from ${counts}) compared
       group by of_all, project_id, width, first_day) summed
     where total <> 0 or array_remove(days, null) <> '{}'
  $$`;
