-- Pages of logs, newest first by (date, id), of some projects or of all (projects is null).

-- Returns a row with the total, then the logs. It walks the counts of decades, months and days,
-- including waiting changes, to the day of the first log of the page, and continues with an offset
-- within that day, from its nearer end.
--
-- With page costs of 0, the planner compares the number of rows alone. Otherwise it may scan the
-- index by date for one of few projects, and read all newer logs of the others.
create or replace function {{page_time_logs}}(projects uuid[], oldest date, newest date, skipped bigint, page_limit integer)
  returns table (total bigint, log {{time_logs}}) stable language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
  set seq_page_cost = 0 set random_page_cost = 0 as $$
#variable_conflict use_column
declare
  is_of_all boolean;
  keys uuid[];
  -- The number of logs before the page: in all days, then in the period that the walk has reached.
  rank bigint;
  waiting_days date[];
  waiting_counts bigint[];
  bucket record;
  -- The decade that it walks by month, and the last month to read there.
  begins date;
  last_month date;
  reached date;
  start_date date;
  start_id uuid;
begin
  total := (select coalesce(sum(n), 0) from {{time_log_sums}}(projects is null, projects, oldest, newest));
  return next;
  if skipped >= total then
    return;
  end if;
  total := null;
  -- The first 200 logs of one list are skipped by its index, which costs less than the counts.
  if skipped > 200 or (skipped > 0 and cardinality(projects) > 1) then
    is_of_all := projects is null;
    keys := coalesce(projects, '{00000000-0000-0000-0000-000000000000}');
    if is_of_all then
      -- It unnests only the days of the changes, and skips changes after the period.
      select array_agg(day), array_agg(n) into waiting_days, waiting_counts
        from (select day, sum(sign) as n from {{waiting_time_log_changes}}(), unnest(days) day
               where first_day < coalesce(newest + 31, 'infinity') group by 1) by_day;
    else
      select array_agg(day), array_agg(n) into waiting_days, waiting_counts
        from (select day, sum(n) as n from {{waiting_time_logs}}(projects) group by 1) by_day;
    end if;
    rank := skipped;
    if newest is not null then
      -- Starts in the month of the last day, and adds the logs of later days of that month to the
      -- rank.
      begins := {{time_log_decade}}(newest);
      last_month := date_trunc('month', newest::timestamp);
      rank := rank + (
        select coalesce(sum(n), 0)
          from (select unnest(days[newest - month + 2:]) as n from {{time_log_months}}
                 where of_all = is_of_all and project_id = any (keys) and month = last_month
                union all
                select n from unnest(waiting_days, waiting_counts) waiting (day, n)
                 where day > newest and day < last_month + interval '1 month') later);
    end if;
    loop
      for bucket in
        select first_day, sum(n)::bigint as n
          from (select month as first_day, total as n from {{time_log_months}}
                 where of_all = is_of_all and project_id = any (keys) and month >= begins and month <= last_month
                union all
                select date_trunc('month', day::timestamp)::date, n from unnest(waiting_days, waiting_counts) waiting (day, n)
                 where day >= begins and day < last_month + interval '1 month') part
         group by 1 order by 1 desc
      loop
        if rank < bucket.n then
          reached := bucket.first_day;
          exit;
        end if;
        rank := rank - bucket.n;
      end loop;
      exit when reached is not null;
      for bucket in
        select first_day, sum(n)::bigint as n
          from (select decade as first_day, total as n from {{time_log_decades}}
                 where of_all = is_of_all and project_id = any (keys) and decade < coalesce(begins, 'infinity')
                union all
                select {{time_log_decade}}(day), n from unnest(waiting_days, waiting_counts) waiting (day, n)
                 where day < coalesce(begins, 'infinity')) part
         group by 1 order by 1 desc
      loop
        if rank < bucket.n then
          reached := bucket.first_day;
          exit;
        end if;
        rank := rank - bucket.n;
      end loop;
      if reached is null then
        return; -- Counts are wrong: the page has no logs.
      end if;
      begins := reached;
      reached := null;
      last_month := {{time_log_decade}}((begins + interval '10 years')::date) - interval '1 month';
    end loop;
    begins := reached;
    for bucket in
      select first_day, sum(n)::bigint as n
        from (select month + number::integer - 1 as first_day, counted as n
                from {{time_log_months}}, unnest(days) with ordinality by_day (counted, number)
               where of_all = is_of_all and project_id = any (keys) and month = begins and counted is not null
              union all
              select day, n from unnest(waiting_days, waiting_counts) waiting (day, n)
               where day >= begins and day < begins + interval '1 month') part
       group by 1 order by 1 desc
    loop
      if rank < bucket.n then
        start_date := bucket.first_day;
        start_id := {{nth_time_log}}(projects, start_date, rank, bucket.n);
        exit;
      end if;
      rank := rank - bucket.n;
    end loop;
    if start_id is null then
      return; -- Counts are wrong: the page has no logs.
    end if;
  end if;
  -- The conditions contain the defaults, because each assignment to a variable takes some
  -- microseconds.
  if projects is null then
    return query
      select null::bigint, log from {{time_logs}} log
       where (log.date, log.id) <= (coalesce(start_date, newest, '9999-12-31'), coalesce(start_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')) and log.date >= coalesce(oldest, '0001-01-01')
       order by log.date desc, log.id desc offset case when start_id is null then skipped end limit page_limit;
  elsif cardinality(projects) = 1 then
    return query
      select null::bigint, log from {{time_logs}} log
       where log.project_id = projects[1]
         and (log.date, log.id) <= (coalesce(start_date, newest, '9999-12-31'), coalesce(start_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')) and log.date >= coalesce(oldest, '0001-01-01')
       order by log.date desc, log.id desc offset case when start_id is null then skipped end limit page_limit;
  else
    return query
      select null::bigint, whole.log
        from (select place.date, place.id
                from (select distinct unnest(projects) as project_id) each
               cross join lateral (
                 select log.date, log.id from {{time_logs}} log
                  where log.project_id = each.project_id
                    and (log.date, log.id) <= (coalesce(start_date, newest, '9999-12-31'), coalesce(start_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')) and log.date >= coalesce(oldest, '0001-01-01')
                  order by log.date desc, log.id desc limit page_limit
               ) place
               order by 1 desc, 2 desc limit page_limit) page
       cross join lateral (
         -- Reads the row by its key. With =, a session could keep a plan from when there were few
         -- logs.
         select log from {{time_logs}} log where log.id >= page.id and log.id <= page.id order by log.id limit 1
       ) whole
       order by page.date desc, page.id desc;
  end if;
end $$;

-- Returns the id of the log that `rank` of the `n` logs of a day precede. It reads from the nearer
-- end. Ordered queries use >= and <= on the date, and order by date and id. With =, ordering by id
-- alone would be enough, and a session that has planned the query with few logs may then scan the
-- whole primary key.
create or replace function {{nth_time_log}}(projects uuid[], day date, rank bigint, n bigint) returns uuid stable language plpgsql as $$
#variable_conflict use_column
declare
  only_project constant uuid := case when cardinality(projects) = 1 then projects[1] end;
  is_near boolean := rank < n / 2;
  guesses integer := 0;
  oldest bigint;
  newest bigint;
  middle bigint;
  newer bigint;
  nth_id uuid;
begin
  if projects is null and is_near then
    select id into nth_id from {{time_logs}} where date >= day and date <= day order by date desc, id desc offset rank limit 1;
  elsif projects is null then
    select id into nth_id from {{time_logs}} where date >= day and date <= day order by date, id offset n - 1 - rank limit 1;
  elsif only_project is not null and is_near then
    select id into nth_id from {{time_logs}} where project_id = only_project and date >= day and date <= day
     order by date desc, id desc offset rank limit 1;
  elsif only_project is not null then
    select id into nth_id from {{time_logs}} where project_id = only_project and date >= day and date <= day
     order by date, id offset n - 1 - rank limit 1;
  else
    -- Narrows the creation time of the logs, which is in the first 48 bits of their ids, until few
    -- logs remain: merging the lists of all projects up to the target would sort half of the day.
    -- Each step guesses the time of the target by interpolation with a margin, every third time by
    -- bisection, and counts the smaller side.
    select min(('x' || left(place.id::text, 8) || substr(place.id::text, 10, 4))::bit(48)::bigint),
           max(('x' || left(place.id::text, 8) || substr(place.id::text, 10, 4))::bit(48)::bigint)
      into oldest, newest
      from (select distinct unnest(projects) as project_id) each
     cross join lateral (
       (select id from {{time_logs}} log where log.project_id = each.project_id and date >= day and date <= day order by date, id limit 1)
       union all
       (select id from {{time_logs}} log where log.project_id = each.project_id and date >= day and date <= day order by date desc, id desc limit 1)
     ) place;
    while n > 200 and oldest < newest loop
      guesses := guesses + 1;
      middle := newest - ((newest - oldest) * case
        when guesses % 3 = 0 then 0.5
        when is_near then (rank + 100)::numeric / n
        else (rank - 100)::numeric / n end)::bigint;
      middle := greatest(middle, oldest + 1);
      select count(*) into newer
        from (select distinct unnest(projects) as project_id) each
       cross join lateral (
         select from {{time_logs}} log
          where log.project_id = each.project_id and date = day
            and id >= rpad(lpad(to_hex(case when is_near then middle else oldest end), 12, '0'), 32, '0')::uuid
            and id <= rpad(lpad(to_hex(case when is_near then newest else middle - 1 end), 12, '0'), 32, 'f')::uuid
       ) place;
      if not is_near then
        newer := n - newer;
      end if;
      if rank < newer then
        oldest := middle;
        n := newer;
      else
        newest := middle - 1;
        n := n - newer;
        rank := rank - newer;
      end if;
      is_near := rank < n / 2;
    end loop;
    if is_near then
      select place.id into nth_id
        from (select distinct unnest(projects) as project_id) each
       cross join lateral (
         select id from {{time_logs}} log
          where log.project_id = each.project_id and date >= day
            and (date, id) <= (day, rpad(lpad(to_hex(newest), 12, '0'), 32, 'f')::uuid)
          order by date desc, id desc limit rank + 1
       ) place
       order by place.id desc offset rank limit 1;
    else
      select place.id into nth_id
        from (select distinct unnest(projects) as project_id) each
       cross join lateral (
         select id from {{time_logs}} log
          where log.project_id = each.project_id and date <= day
            and (date, id) >= (day, rpad(lpad(to_hex(oldest), 12, '0'), 32, '0')::uuid)
          order by date, id limit n - rank
       ) place
       order by place.id offset n - 1 - rank limit 1;
    end if;
  end if;
  return nth_id;
end $$;
