import { type CountNames, KEY_OF_SEVERAL } from './count-layout.js';
import { inPeriod, PAGE_BY_PAGE, PARTS_DECLARED } from './sum-rows.v1.js';

const projectSumsOf = (names: CountNames, name: string, whose: string, key: string) => `
  create function ${name}(${whose}oldest date, newest date, skipped bigint, page_limit integer)
    returns table (n bigint, duration numeric, groups bigint, project_id uuid)
    stable language plpgsql ${PAGE_BY_PAGE} as $$
  #variable_conflict use_column
  declare ${PARTS_DECLARED}
  begin
    return query
      with sums as (
        select project_id, sum(n)::bigint as n, sum(duration) as duration
          from (${inPeriod(names, key)}) parts group by project_id having sum(n) > 0
      )
      (select coalesce(sum(n), 0)::bigint, coalesce(sum(duration), 0), count(*), null::uuid from sums)
      union all
      (select n, duration, null, project_id from sums order by duration desc, project_id offset skipped limit page_limit);
  end $$`;

/**
 * A row with the sum of a period and the number of projects that have logs in it; then the projects of a page, the
 * largest sum first. The key tells which rows of all projects are in the period, and only these are read. STABLE: all
 * of it sees what the statement sees that calls it.
 */
export const timeLogProjectSumsV1 = (names: CountNames) =>
  projectSumsOf(names, names.projectSums, '', 'not of_all');

/** The same of some projects. */
export const timeLogProjectSumsOfV1 = (names: CountNames) =>
  projectSumsOf(names, names.projectSumsOf, 'projects uuid[], ', KEY_OF_SEVERAL);
