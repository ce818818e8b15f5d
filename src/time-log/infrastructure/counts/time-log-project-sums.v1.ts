import { type CountNames } from './count-layout.js';
import { ALONG_THE_KEY, PARTS_DECLARED, sumOfPeriod } from './sum-rows.v1.js';

/**
 * A row with the sum of a period and the number of projects that have logs in it; then the projects of a page, the
 * largest sum first. Steps from project to project along the key, and reads what each has in the period. STABLE: all of
 * it sees what the statement sees that calls it.
 */
export const timeLogProjectSumsV1 = (names: CountNames) => `
  create function ${names.projectSums}(project uuid, oldest date, newest date, skipped bigint, page_limit integer)
    returns table (n bigint, duration numeric, groups bigint, project_id uuid)
    stable language plpgsql ${ALONG_THE_KEY} as $$
  #variable_conflict use_column
  declare ${PARTS_DECLARED}
  begin
    return query
      with recursive projects as (
        (select project_id from ${names.counts}
          where not of_all and project_id >= coalesce(project, project_id) order by of_all, project_id limit 1)
        union all
        select (select project_id from ${names.counts}
                 where not of_all and project_id > before.project_id order by of_all, project_id limit 1)
          from projects before where before.project_id is not null and project is null
      ), sums as (
        select of_project.*, projects.project_id from projects cross join lateral (
          ${sumOfPeriod(names, `not of_all and project_id = projects.project_id`)}
        ) of_project where n > 0
      )
      (select n, duration, (select count(*) from sums), null::uuid from ${names.sum}(project, oldest, newest))
      union all
      (select n, duration, null, project_id from sums order by duration desc, project_id offset skipped limit page_limit);
  end $$`;
