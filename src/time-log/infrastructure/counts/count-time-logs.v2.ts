import { AS_OWNER, BLOCK, type CountNames, FIRST, NIL, SPAN } from './count-layout.js';
import { COUNTING_AS_BEFORE, COUNTING_DECLARED, COUNTING_ON, takeSlot } from './count-rows.v1.js';
import { andAllDays, eachDay, intoSlot, orAdd } from './count-rows.v2.js';

const IN_SPAN = SPAN / BLOCK;
const CHANGES = `unnest(projects, blocks, days_of_block, numbers, sums) as changes (project_id, block, day, n, duration)`;
const KEY = `grouping(project_id) = 1, coalesce(project_id, ${NIL})`;
/** The one day that is added to ends its array. */
const DAY = 'cardinality(excluded.days)';
const orAddDay = `${orAdd},
         days[${DAY}] = nullif(coalesce(counts.days[${DAY}], 0) + excluded.total, 0),
         durations[${DAY}] = nullif(coalesce(counts.durations[${DAY}], 0) + excluded.duration, 0)`;
const forAllAndProject = (row: string) => `values (true, ${NIL}, ${row}), (false, projects[1], ${row})`;
/** The rows of one project and day. */
const LONE_SPAN = `${SPAN}, ${FIRST} + blocks[1] / ${IN_SPAN} * ${SPAN}, own_slot, numbers[1], sums[1], null, null`;
const LONE_BLOCK = `${BLOCK}, ${FIRST} + blocks[1] * ${BLOCK}, own_slot, numbers[1], sums[1],
             array_fill(null::integer, array[days_of_block[1]]) || numbers[1],
             array_fill(null::numeric, array[days_of_block[1]]) || sums[1]`;

/**
 * For a trigger after a statement on logs: adds its changes to counts and sums. It reads the logs of the statement
 * once, into arrays: neighbours of PostgreSQL do not hand them on to a statement within the function. Logs of one
 * project and day, such as a lone one, need no grouping. Most blocks change on one day, and so cost no look at the
 * others. Of all projects together a block has several days soon, of one project rarely: each has a statement of its
 * own. The one of all makes its arrays from rows, since to set up an aggregate for each day costs a statement of few
 * logs more than the rest; the other one has to be fast for many.
 */
export const countTimeLogsV2 = (names: CountNames) => `
  create or replace function ${names.count}() returns trigger language plpgsql ${AS_OWNER}
    set plan_cache_mode = force_generic_plan as $$
  #variable_conflict use_column
  declare
    projects uuid[];
    blocks integer[];
    days_of_block integer[];
    numbers integer[];
    sums numeric[];
    number_of_projects integer;
    own_slot integer := 0;
    ${COUNTING_DECLARED}
  begin
    select array_agg(project_id), array_agg(number / ${BLOCK}), array_agg(number % ${BLOCK}), array_agg(n), array_agg(duration),
           count(distinct project_id)
      into projects, blocks, days_of_block, numbers, sums, number_of_projects
      from (select project_id, date - ${FIRST} as number, count(*)::integer * tg_argv[0]::integer as n,
                   sum(duration) * tg_argv[0]::integer as duration
              from changed group by 1, 2) grouped;
    if projects is null then
      return null;
    end if;
    ${COUNTING_ON}
    ${takeSlot(names)}
    if cardinality(projects) = 1 then
      ${intoSlot(names)}
      ${forAllAndProject(LONE_SPAN)}
      ${orAdd};
      ${intoSlot(names)}
      ${forAllAndProject(LONE_BLOCK)}
      ${orAddDay};
    else
      ${intoSlot(names)}
      select ${KEY}, ${SPAN}, ${FIRST} + block / ${IN_SPAN} * ${SPAN}, own_slot, sum(n), sum(duration), null, null
        from ${CHANGES} group by grouping sets ((project_id, block / ${IN_SPAN}), (block / ${IN_SPAN}))
      ${orAdd};
      ${intoSlot(names)}
      select ${KEY}, ${BLOCK}, ${FIRST} + block * ${BLOCK}, own_slot, sum(n), sum(duration),
             array_fill(null::integer, array[min(day)]) || sum(n)::integer,
             array_fill(null::numeric, array[min(day)]) || sum(duration)
        from ${CHANGES} group by grouping sets ((project_id, block), (block)) having min(day) = max(day)
      ${orAddDay};
      ${intoSlot(names)}
      select true, ${NIL}, ${BLOCK}, ${FIRST} + block * ${BLOCK}, own_slot, sum(n), sum(duration),
             array_agg(n order by day), array_agg(duration order by day)
        from (select block, day, sum(n)::integer as n, sum(duration) as duration
                from (select block, day, n, duration from ${CHANGES}
                      union all
                      select block, day, null, null
                        from (select distinct unnest(blocks) as block) touched, generate_series(0, ${BLOCK - 1}) as day) days
               group by block, day) each_day
       group by block having count(n) > 1
      ${orAdd}${andAllDays};
      if cardinality(projects) > number_of_projects then
        ${intoSlot(names)}
        select false, project_id, ${BLOCK}, ${FIRST} + block * ${BLOCK}, own_slot, sum(n), sum(duration),
               ${eachDay('n')}::integer[],
               ${eachDay('duration')}
          from ${CHANGES} group by project_id, block having min(day) <> max(day)
        ${orAdd}${andAllDays};
      end if;
    end if;
    ${COUNTING_AS_BEFORE}
    return null;
  end $$`;
