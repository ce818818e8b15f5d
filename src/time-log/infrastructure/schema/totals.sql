-- Sums of any logs. These functions are STABLE: they see the snapshot of the calling statement.

-- Returns rows that add up to the sums of a period: of all projects together (project_id then has
-- no meaning), of some, or of each (null). It reads whole decades, whole months at both ends, the
-- days of the two outermost months, and the waiting changes. The settings of the calling functions
-- determine its plans.
create or replace function {{time_log_sums}}(is_of_all boolean, some_projects uuid[], oldest date, newest date)
  returns table (project_id uuid, n bigint, duration numeric) stable language plpgsql as $$
#variable_conflict use_column
declare
  begins date;
  ends date;
  keys uuid[];
  -- The whole months and, within them, the whole decades. The upper bounds are exclusive.
  month_from date;
  month_to date;
  decade_from date;
  decade_to date;
begin
  -- Most calls are for all days. Each expression takes some microseconds in each transaction.
  if oldest is null and newest is null and is_of_all then
    return query
      select project_id, total, duration from {{time_log_decades}}
       where of_all and project_id = '00000000-0000-0000-0000-000000000000'
      union all
      select null, total, duration from {{waiting_time_log_changes}}();
    return;
  end if;
  if oldest is null and newest is null and some_projects is not null then
    return query
      select project_id, total, duration from {{time_log_decades}} where not of_all and project_id = any (some_projects);
    if exists (select from {{waiting_time_log_changes}}()) then
      return query select project_id, n::bigint, duration from {{waiting_time_logs}}(some_projects);
    end if;
    return;
  end if;
  begins := coalesce(oldest, '0001-01-01');
  ends := coalesce(newest, '9999-12-31');
  if begins > ends then
    return;
  end if;
  keys := case when is_of_all then '{00000000-0000-0000-0000-000000000000}' else some_projects end;
  month_from := date_trunc('month', begins + interval '1 month' - interval '1 day');
  month_to := greatest(month_from, date_trunc('month', (ends + 1)::timestamp)::date);
  decade_from := least(month_to, {{time_log_decade}}((month_from + interval '10 years' - interval '1 day')::date));
  decade_to := greatest(decade_from, {{time_log_decade}}(month_to));
  if keys is null then
    return query
      select project_id, total, duration from {{time_log_decades}}
       where not of_all and decade >= decade_from and decade < decade_to and decade_from < decade_to
      union all
      select project_id, total, duration from {{time_log_months}}
       where not of_all and month >= month_from and month < decade_from
      union all
      select project_id, total, duration from {{time_log_months}}
       where not of_all and month >= decade_to and month < month_to
      union all
      select project_id, counted, summed
        from {{time_log_months}},
             unnest(days[greatest(begins - month, 0) + 1:ends - month + 1],
                    durations[greatest(begins - month, 0) + 1:ends - month + 1]) day (counted, summed)
       where not of_all and (counted is not null or summed is not null)
         and month in (select date_trunc('month', begins::timestamp)::date where begins < month_from
                       union select date_trunc('month', ends::timestamp)::date where ends >= month_to);
  else
    -- The conditions that compare only variables avoid an index lookup for each project.
    return query
      select project_id, total, duration from {{time_log_decades}}
       where of_all = is_of_all and project_id = any (keys) and decade >= decade_from and decade < decade_to
         and decade_from < decade_to
      union all
      select project_id, total, duration from {{time_log_months}}
       where of_all = is_of_all and project_id = any (keys) and month >= month_from and month < decade_from
         and month_from < decade_from
      union all
      select project_id, total, duration from {{time_log_months}}
       where of_all = is_of_all and project_id = any (keys) and month >= decade_to and month < month_to
         and decade_to < month_to
      union all
      select project_id, counted, summed
        from {{time_log_months}},
             unnest(days[begins - month + 1:ends - month + 1], durations[begins - month + 1:ends - month + 1]) day (counted, summed)
       where of_all = is_of_all and project_id = any (keys) and begins < month_from
         and month = date_trunc('month', begins::timestamp)::date
      union all
      select project_id, counted, summed
        from {{time_log_months}}, unnest(days[:ends - month + 1], durations[:ends - month + 1]) day (counted, summed)
       where of_all = is_of_all and project_id = any (keys) and ends >= month_to
         and month = date_trunc('month', ends::timestamp)::date and month >= month_from;
  end if;
  if not exists (select from {{waiting_time_log_changes}}()) then
    return;
  end if;
  if is_of_all then
    return query
      select null::uuid, total::bigint, duration from {{waiting_time_log_changes}}() where first_day >= begins and last_day <= ends
      union all
      select null, sign, sign * log.duration
        from {{waiting_time_log_changes}}() change, unnest(change.days, change.durations) log (day, duration)
       where (first_day < begins or last_day > ends) and first_day <= ends and last_day >= begins and day between begins and ends;
  else
    return query
      select project_id, n::bigint, duration from {{waiting_time_logs}}(some_projects) where day between begins and ends;
  end if;
end $$;

-- Returns the number of logs of a period, and the sum of their durations.
create or replace function {{sum_time_logs}}(projects uuid[], oldest date, newest date)
  returns table (n bigint, duration numeric) stable language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query
    select coalesce(sum(part.n), 0)::bigint, coalesce(sum(part.duration), 0)
      from {{time_log_sums}}(projects is null, projects, oldest, newest) part;
end $$;

-- Returns a row with the sum of a period and the number of projects with logs; then the projects of
-- a page, by descending sum.
create or replace function {{page_time_log_project_sums}}(projects uuid[], oldest date, newest date, skipped bigint, page_limit integer)
  returns table (n bigint, duration numeric, groups bigint, project_id uuid) stable language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
#variable_conflict use_column
begin
  return query
    with sums as materialized (
      select project_id, sum(n)::bigint as n, sum(duration) as duration
        from {{time_log_sums}}(false, projects, oldest, newest) group by 1 having sum(n) > 0
    )
    (select coalesce(sum(n), 0)::bigint, coalesce(sum(duration), 0), count(*), null::uuid from sums)
    union all
    (select n, duration, null, project_id from sums order by duration desc, project_id offset skipped limit page_limit);
end $$;

-- Returns a row with the sum of a period and the number of groups with logs; then the groups of a
-- page: days, weeks or months, newest first, or those of each project ('project,month'), by project
-- first. Groups are limited to the period. Those by month read days only for the outermost months.
-- Weeks start on Monday, and 0001-01-01 was a Monday.
create or replace function {{page_time_log_group_sums}}(projects uuid[], oldest date, newest date, grouping_by text, skipped bigint, page_limit integer)
  returns table (n bigint, duration numeric, groups bigint, project_id uuid, first_day date, last_day date) stable language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
#variable_conflict use_column
declare
  begins constant date := coalesce(oldest, '0001-01-01');
  ends constant date := coalesce(newest, '9999-12-31');
  first_month constant date := date_trunc('month', begins::timestamp);
  is_by_project constant boolean := grouping_by like 'project,%';
  step constant text := replace(grouping_by, 'project,', '');
  -- Null means the rows of each project.
  keys constant uuid[] := case when projects is null and not is_by_project then '{00000000-0000-0000-0000-000000000000}' else projects end;
begin
  return query
    with months as not materialized (
      select * from {{time_log_months}}
       where of_all = (projects is null) and project_id = any (keys) and month between first_month and ends
      union all
      select * from {{time_log_months}} where keys is null and not of_all and month between first_month and ends
    ), found as materialized (
      select case when is_by_project then project_id end as project_id,
             case step when 'day' then day
                       when 'week' then day - (day - '0001-01-01') % 7
                       else date_trunc('month', day::timestamp)::date end as group_begins,
             sum(counted) as n, sum(summed) as duration
        from (select project_id, month as day, total as counted, duration as summed from months
               where step = 'month' and month >= begins and month + interval '1 month' <= ends + 1
              union all
              select project_id, month + place::integer - 1, counted, summed
                from months, unnest(days, durations) with ordinality by_day (counted, summed, place)
               where month + place::integer - 1 between begins and ends
                 and (step <> 'month' or month < begins or month + interval '1 month' > ends + 1)
                 and (counted is not null or summed is not null)
              union all
              select project_id, day, n, duration from {{waiting_time_logs}}(projects) where day between begins and ends) part
       group by 1, 2 having sum(counted) > 0
    )
    (select coalesce(sum(n), 0)::bigint, coalesce(sum(duration), 0), count(*), null::uuid, null::date, null::date from found)
    union all
    (select n::bigint, duration, null, project_id, greatest(begins, group_begins),
            least(ends, case step when 'day' then group_begins when 'week' then group_begins + 6
                                  else (group_begins + interval '1 month')::date - 1 end)
       from found order by project_id, group_begins desc offset skipped limit page_limit);
end $$;
