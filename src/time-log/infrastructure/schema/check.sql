-- Verifies counts against the logs, and repairs them.

-- Returns the values to add to the rows of months and decades to correct them; no row if all are
-- correct. It reads all logs in one snapshot and blocks no writer.
create or replace function {{time_log_count_faults}}()
  returns table (of_all boolean, project_id uuid, month date, decade date, total bigint, duration numeric, days integer[], durations numeric[])
  stable language sql as $$
  with each_day as materialized (
    select grouping(project_id) = 1 as of_all, coalesce(project_id, '00000000-0000-0000-0000-000000000000') as project_id, day,
           sum(n)::bigint as n, sum(duration) as duration
      from (select project_id, date as day, count(*) as n, sum(duration) as duration from {{time_logs}} group by 1, 2
            union all
            select project_id, day, -n, -duration from {{waiting_time_logs}}(null)) found
     group by grouping sets ((project_id, day), (day))
  ), fault_days as (
    select of_all, project_id, date_trunc('month', day::timestamp)::date as month,
           array_agg(extract(day from day)::integer order by day) as days, array_agg(n::integer order by day) as counts,
           array_agg(duration order by day) as durations
      from (select of_all, project_id, day, sum(n) as n, sum(duration) as duration
              from (select * from each_day
                    union all
                    select of_all, project_id, month + place::integer - 1, -coalesce(counted, 0), -coalesce(summed, 0)
                      from {{time_log_months}}, unnest(days, durations) with ordinality by_day (counted, summed, place)
                     where counted is not null or summed is not null) part
             group by 1, 2, 3 having sum(n) <> 0 or sum(duration) <> 0) wrong
     group by 1, 2, 3
  ), fault_months as (
    select of_all, project_id, month, sum(n)::bigint as total, sum(duration) as duration
      from (select of_all, project_id, date_trunc('month', day::timestamp)::date as month, n, duration from each_day
            union all
            select of_all, project_id, month, -total, -duration from {{time_log_months}}) part
     group by 1, 2, 3 having sum(n) <> 0 or sum(duration) <> 0
  )
  select of_all, project_id, month, null::date, coalesce(total, 0), coalesce(wrong.duration, 0),
         coalesce({{add_to_time_log_days}}('{}'::integer[], days, counts), '{}'),
         coalesce({{add_to_time_log_days}}('{}'::numeric[], days, fault_days.durations), '{}')
    from fault_months wrong full join fault_days using (of_all, project_id, month)
  union all
  select of_all, project_id, null, decade, sum(n)::bigint, sum(duration), null, null
    from (select of_all, project_id, {{time_log_decade}}(day) as decade, n, duration from each_day
          union all
          select of_all, project_id, decade, -total, -duration from {{time_log_decades}}) part
   group by 1, 2, 4 having sum(n) <> 0 or sum(duration) <> 0
$$;

-- Corrects the counts by inserting the differences as a part of its own. Other transactions may
-- write meanwhile. Returns the number of wrong rows. Two rebuilds at once would add the differences
-- twice.
create or replace function {{rebuild_time_log_counts}}() returns bigint
  language plpgsql as $$
declare
  own_part bigint;
  wrong bigint;
  counting constant text := coalesce(current_setting('time_logs.counting', true), '');
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception 'the counts of time logs would go wrong: set transaction isolation level read committed first'
      using errcode = 'invalid_transaction_state';
  end if;
  if not pg_try_advisory_xact_lock('{{time_logs'}}'::regclass::oid::integer, -1) then
    raise exception 'another rebuild of the counts of time logs is under way: wait for its end' using errcode = 'object_in_use';
  end if;
  -- Without a fold, readers read every change, including changes with transaction numbers of
  -- another server.
  delete from {{time_log_folds}};
  own_part := 1 + (hashtextextended(gen_random_uuid()::text, 0) & 9223372036854775806);
  perform set_config('time_logs.counting', 'on', true);
  with wrong as (
    select * from {{time_log_count_faults}}()
  ), months as (
    insert into {{time_log_months}} (of_all, project_id, month, part, total, duration, days, durations)
    select of_all, project_id, month, own_part, total, duration, days, durations from wrong where month is not null
  ), decades as (
    insert into {{time_log_decades}} (of_all, project_id, decade, part, total, duration)
    select of_all, project_id, decade, own_part, total, duration from wrong where decade is not null
  )
  select count(*) from wrong into wrong;
  perform set_config('time_logs.counting', counting, true);
  return wrong;
end $$;
