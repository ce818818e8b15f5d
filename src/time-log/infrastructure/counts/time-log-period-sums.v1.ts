import { BLOCK, type CountNames, FIRST, KEY, KEY_OF_SEVERAL } from './count-layout.js';
import { ALONG_THE_KEY } from './sum-rows.v1.js';

/** The first day of the group of a day. 0001-01-01 is a Monday. No time zone has a part in it. */
const FIRST_OF_GROUP = `case grouping_by
    when 'day' then day
    when 'week' then day - (day - ${FIRST}) % 7
    else date_trunc('month', day::timestamp)::date end`;

/** The days with logs of a period, some of them in several rows: (day, value) of a column by days. */
const daysOf = (counts: string, key: string, column: string, from: string, to: string) => `
        select first_day + place::integer - 1 as day, value
          from ${counts} cross join unnest(${column}) with ordinality as days_of_block (value, place)
         where ${key} and width = ${BLOCK} and value is not null
           and first_day > ${from} - ${BLOCK} and first_day <= ${to}
           and first_day + place::integer - 1 between ${from} and ${to}`;

interface Whose {
  readonly name: string;
  readonly argument: string;
  readonly type: string;
  readonly key: string;
  readonly sum: string;
}

const periodSumsOf = ({ counts }: CountNames, { name, argument, type, key, sum }: Whose) => `
  create function ${name}(${argument} ${type}, oldest date, newest date, grouping_by text, skipped bigint, page_limit integer)
    returns table (n bigint, duration numeric, groups bigint, first_day date, last_day date)
    stable language plpgsql ${ALONG_THE_KEY} as $$
  #variable_conflict use_column
  declare
    first date := coalesce(oldest, ${FIRST});
    last date := coalesce(newest, '9999-12-31');
  begin
    return query
      with found as materialized (
        select ${FIRST_OF_GROUP} as begins, sum(value) as n
          from (${daysOf(counts, key, 'days', 'first', 'last')}) days_of_period group by 1 having sum(value) > 0
      ), page as materialized (
        select begins, n, case grouping_by
                 when 'day' then begins
                 when 'week' then begins + 6
                 else (begins + interval '1 month')::date - 1 end as ends
          from found order by begins desc offset skipped limit page_limit
      ), bounds as (
        select greatest(first, min(begins)) as first, least(last, max(ends)) as last from page
      ), sums as (
        select ${FIRST_OF_GROUP} as begins, sum(value) as duration
          from bounds cross join lateral (${daysOf(counts, key, 'durations', 'bounds.first', 'bounds.last')}) days_of_page group by 1
      )
      (select n, duration, (select count(*) from found), null::date, null::date from ${sum}(${argument}, oldest, newest))
      union all
      (select n, duration, null, greatest(first, begins), least(last, ends) from page join sums using (begins)
        order by begins desc);
  end $$`;

/**
 * A row with the sum of a period (null: open) and the number of its days, weeks or months with logs; then those of a
 * page, newest first, cut to the period. The counts of all its days tell which these are; only those of the page are
 * summed. STABLE: all of it sees what the statement sees that calls it.
 */
export const timeLogPeriodSumsV1 = (names: CountNames) =>
  periodSumsOf(names, {
    name: names.periodSums,
    argument: 'project',
    type: 'uuid',
    key: KEY,
    sum: names.sum,
  });

/** The same of some projects. */
export const timeLogPeriodSumsOfV1 = (names: CountNames) =>
  periodSumsOf(names, {
    name: names.periodSumsOf,
    argument: 'projects',
    type: 'uuid[]',
    key: KEY_OF_SEVERAL,
    sum: names.sumOf,
  });
