import { BLOCK, type CountNames, FIRST, KEY, KEY_OF_SEVERAL } from './count-layout.js';
import { ALONG_THE_KEY } from './sum-rows.v1.js';

/** The first day of the group of a day. 0001-01-01 is a Monday. No time zone has a part in it. */
const FIRST_OF_GROUP = `case grouping_by
    when 'day' then day
    when 'week' then day - (day - ${FIRST}) % 7
    else date_trunc('month', day::timestamp)::date end`;

/**
 * A day of a slot may have a sum without a count: where another slot counts what this one takes away, or a duration
 * alone was changed.
 */
const periodSumsOf = ({ counts }: CountNames, name: string, whose: string, key: string) => `
  create function ${name}(${whose}, oldest date, newest date, grouping_by text, skipped bigint, page_limit integer)
    returns table (n bigint, duration numeric, groups bigint, first_day date, last_day date)
    stable language plpgsql ${ALONG_THE_KEY} as $$
  #variable_conflict use_column
  declare
    first date := coalesce(oldest, ${FIRST});
    last date := coalesce(newest, '9999-12-31');
  begin
    return query
      with found as materialized (
        select ${FIRST_OF_GROUP} as begins, sum(logs) as n, sum(summed) as duration
          from (select first_day + place::integer - 1 as day, logs, summed
                  from ${counts} cross join unnest(days, durations) with ordinality as days_of_block (logs, summed, place)
                 where ${key} and width = ${BLOCK} and coalesce(logs, summed) is not null
                   and first_day > first - ${BLOCK} and first_day <= last
                   and first_day + place::integer - 1 between first and last) days_of_period
         group by 1 having sum(logs) > 0
      )
      (select coalesce(sum(n), 0)::bigint, coalesce(sum(duration), 0), count(*), null::date, null::date from found)
      union all
      (select n, duration, null, greatest(first, begins), least(last, case grouping_by
                when 'day' then begins
                when 'week' then begins + 6
                else (begins + interval '1 month')::date - 1 end)
         from found order by begins desc offset skipped limit page_limit);
  end $$`;

/**
 * A row with the sum of a period (null: open) and the number of its days, weeks or months with logs; then those of a
 * page, newest first, cut to the period. STABLE: all of it sees what the statement sees that calls it.
 */
export const timeLogPeriodSumsV1 = (names: CountNames) =>
  periodSumsOf(names, names.periodSums, 'project uuid', KEY);

/** The same of some projects. */
export const timeLogPeriodSumsOfV1 = (names: CountNames) =>
  periodSumsOf(names, names.periodSumsOf, 'projects uuid[]', KEY_OF_SEVERAL);
