import type { PageRequest } from '../../time-log/domain/page-request.js';
import type { Period } from '../../time-log/domain/period.js';
import type { MatchingLogs } from '../../time-log/infrastructure/attribute-condition.js';
import type { Grouping } from '../domain/totals.js';

/** The first and the last day of the period of `date`. Weeks start on Monday, and 0001-01-01 was a Monday. */
const DAYS: Readonly<Record<string, readonly [first: string, last: string]>> = {
  day: ['date', 'first_day'],
  week: [`date - (date - date '0001-01-01') % 7`, 'first_day + 6'],
  month: [`date_trunc('month', date::timestamp)::date`, `(first_day + interval '1 month')::date - 1`],
};

/**
 * Returns SQL that adds up logs, with rows like those of the sums by month: first the sum of all logs, then the groups
 * of a page.
 */
export function matchingSums(
  table: string,
  { condition, bind }: MatchingLogs,
  { from = '0001-01-01', to = '9999-12-31' }: Period,
  grouping: Grouping | undefined,
  { offset, limit }: PageRequest,
): string {
  const [first, last] = DAYS[grouping?.replace('project,', '') ?? ''] ?? ['null::date', 'null::date'];
  // Groups of projects alone have no days, which stay null.
  const limited = (limit: 'greatest' | 'least', day: string, bound: string) =>
    `to_json(case when first_day is not null then ${limit}(${day}, ${bind(bound)}::date) end)::text`;
  return `with sums as materialized (
            select ${grouping?.startsWith('project') ? 'project_id' : 'null::uuid'} as project_id, ${first} as first_day,
                   count(*) as n, sum(duration) as duration
              from ${table} log where ${condition} group by 1, 2
          )
          (select coalesce(sum(n), 0)::text, trim_scale(coalesce(sum(duration), 0))::text,
                  ${grouping ? 'count(*)' : '0'}::text, null::text, null::text, null::text from sums)
          union all
          (select n::text, trim_scale(duration)::text, null, project_id::text,
                  ${limited('greatest', 'first_day', from)}, ${limited('least', last, to)}
             from sums order by ${grouping === 'project' ? 'sums.duration desc, sums.project_id' : 'sums.project_id, sums.first_day desc'}
           offset ${bind(String(offset))} limit ${bind(String(grouping ? limit : 0))})`;
}
