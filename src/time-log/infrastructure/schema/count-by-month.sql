-- Converts the counts of version 0.2, blocks of 32 days in slots, to months and decades. It reads
-- no logs.
insert into {{time_log_months}} (of_all, project_id, month, total, duration, days, durations)
select of_all, project_id, date_trunc('month', day::timestamp)::date, sum(n), sum(duration),
       {{add_to_time_log_days}}('{}'::integer[], array_agg(extract(day from day)::integer order by day), array_agg(n::integer order by day)),
       {{add_to_time_log_days}}('{}'::numeric[], array_agg(extract(day from day)::integer order by day), array_agg(duration order by day))
  from (select of_all, project_id, first_day + place::integer - 1 as day, coalesce(sum(counted), 0) as n, coalesce(sum(summed), 0) as duration
          from {{time_log_counts}}, unnest(days, durations) with ordinality by_day (counted, summed, place)
         where width = 32 and (counted is not null or summed is not null)
         group by 1, 2, 3 having sum(counted) <> 0 or sum(summed) <> 0) each_day
 group by 1, 2, 3;
insert into {{time_log_decades}} (of_all, project_id, decade, total, duration)
select of_all, project_id, {{time_log_decade}}(month), sum(total), sum(duration) from {{time_log_months}} group by 1, 2, 3;
analyze {{time_log_months}};
analyze {{time_log_decades}};
-- Grants select on the new tables to each role that could read the earlier counts.
do $$
declare
  reader text;
begin
  for reader in
    select case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end
      from pg_class cross join aclexplode(relacl)
     where pg_class.oid = '{{time_log_counts'}}'::regclass and privilege_type = 'SELECT' and grantee <> relowner
  loop
    execute 'grant select on {{time_log_months'}}, {{time_log_decades'}}, {{time_log_changes'}}, {{time_log_folds'}} to ' || reader;
  end loop;
end $$;
