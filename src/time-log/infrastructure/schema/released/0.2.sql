--> AddTimeLogPositions1764201600000
set local lock_timeout = '10s'
--> AddTimeLogPositions1764201600000
alter table {{time_logs}} add column if not exists "position" bigint not null default ((pg_current_xact_id())::text)::bigint
--> IndexTimeLogPositions1764201700000
set local lock_timeout = '10s'
--> IndexTimeLogPositions1764201700000
create index if not exists time_logs_position_id_idx on {{time_logs}} ("position", id)
--> AddDurationSums1764547200000
set local lock_timeout = '10s'
--> AddDurationSums1764547200000

      alter table {{time_log_counts}} add column duration numeric not null default 0,
                            add column durations numeric[] default '{null}'
--> AddDurationSums1764547200000
comment on column {{time_log_counts}}.durations is 'The sum of each day; null for none.'
--> AddDurationSums1764547200000
create index if not exists time_log_counts_slot_idx on {{time_log_counts}} (slot) where slot > 0
--> KeepDurationSums1764547300000
set local lock_timeout = '10s'
--> KeepDurationSums1764547300000
lock table {{time_logs}} in share mode
--> KeepDurationSums1764547300000

  create or replace function {{count_time_logs}}() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp
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
    counting text := coalesce(current_setting('time_logs.counting', true), '');
  begin
    select array_agg(project_id), array_agg(number / 32), array_agg(number % 32), array_agg(n), array_agg(duration),
           count(distinct project_id)
      into projects, blocks, days_of_block, numbers, sums, number_of_projects
      from (select project_id, date - date '0001-01-01' as number, count(*)::integer * tg_argv[0]::integer as n,
                   sum(duration) * tg_argv[0]::integer as duration
              from changed group by 1, 2) grouped;
    if projects is null then
      return null;
    end if;
    perform set_config('time_logs.counting', 'on', true);
    
  while not pg_try_advisory_xact_lock('{{time_logs'}}'::regclass::oid::integer, own_slot) loop
    own_slot := own_slot + 1;
  end loop;
    if cardinality(projects) = 1 then
      insert into {{time_log_counts}} as counts (of_all, project_id, width, first_day, slot, total, duration, days, durations)
      values (true, uuid '00000000-0000-0000-0000-000000000000', 4096, date '0001-01-01' + blocks[1] / 128 * 4096, own_slot, numbers[1], sums[1], null, null), (false, projects[1], 4096, date '0001-01-01' + blocks[1] / 128 * 4096, own_slot, numbers[1], sums[1], null, null)
      on conflict on constraint time_log_counts_pkey do update
     set total = counts.total + excluded.total, duration = counts.duration + excluded.duration;
      insert into {{time_log_counts}} as counts (of_all, project_id, width, first_day, slot, total, duration, days, durations)
      values (true, uuid '00000000-0000-0000-0000-000000000000', 32, date '0001-01-01' + blocks[1] * 32, own_slot, numbers[1], sums[1],
             array_fill(null::integer, array[days_of_block[1]]) || numbers[1],
             array_fill(null::numeric, array[days_of_block[1]]) || sums[1]), (false, projects[1], 32, date '0001-01-01' + blocks[1] * 32, own_slot, numbers[1], sums[1],
             array_fill(null::integer, array[days_of_block[1]]) || numbers[1],
             array_fill(null::numeric, array[days_of_block[1]]) || sums[1])
      on conflict on constraint time_log_counts_pkey do update
     set total = counts.total + excluded.total, duration = counts.duration + excluded.duration,
         days[cardinality(excluded.days)] = nullif(coalesce(counts.days[cardinality(excluded.days)], 0) + excluded.total, 0),
         durations[cardinality(excluded.days)] = nullif(coalesce(counts.durations[cardinality(excluded.days)], 0) + excluded.duration, 0);
    else
      insert into {{time_log_counts}} as counts (of_all, project_id, width, first_day, slot, total, duration, days, durations)
      select grouping(project_id) = 1, coalesce(project_id, uuid '00000000-0000-0000-0000-000000000000'), 4096, date '0001-01-01' + block / 128 * 4096, own_slot, sum(n), sum(duration), null, null
        from unnest(projects, blocks, days_of_block, numbers, sums) as changes (project_id, block, day, n, duration) group by grouping sets ((project_id, block / 128), (block / 128))
      on conflict on constraint time_log_counts_pkey do update
     set total = counts.total + excluded.total, duration = counts.duration + excluded.duration;
      insert into {{time_log_counts}} as counts (of_all, project_id, width, first_day, slot, total, duration, days, durations)
      select grouping(project_id) = 1, coalesce(project_id, uuid '00000000-0000-0000-0000-000000000000'), 32, date '0001-01-01' + block * 32, own_slot, sum(n), sum(duration),
             array_fill(null::integer, array[min(day)]) || sum(n)::integer,
             array_fill(null::numeric, array[min(day)]) || sum(duration)
        from unnest(projects, blocks, days_of_block, numbers, sums) as changes (project_id, block, day, n, duration) group by grouping sets ((project_id, block), (block)) having min(day) = max(day)
      on conflict on constraint time_log_counts_pkey do update
     set total = counts.total + excluded.total, duration = counts.duration + excluded.duration,
         days[cardinality(excluded.days)] = nullif(coalesce(counts.days[cardinality(excluded.days)], 0) + excluded.total, 0),
         durations[cardinality(excluded.days)] = nullif(coalesce(counts.durations[cardinality(excluded.days)], 0) + excluded.duration, 0);
      insert into {{time_log_counts}} as counts (of_all, project_id, width, first_day, slot, total, duration, days, durations)
      select true, uuid '00000000-0000-0000-0000-000000000000', 32, date '0001-01-01' + block * 32, own_slot, sum(n), sum(duration),
             array_agg(n order by day), array_agg(duration order by day)
        from (select block, day, sum(n)::integer as n, sum(duration) as duration
                from (select block, day, n, duration from unnest(projects, blocks, days_of_block, numbers, sums) as changes (project_id, block, day, n, duration)
                      union all
                      select block, day, null, null
                        from (select distinct unnest(blocks) as block) touched, generate_series(0, 31) as day) days
               group by block, day) each_day
       group by block having count(n) > 1
      on conflict on constraint time_log_counts_pkey do update
     set total = counts.total + excluded.total, duration = counts.duration + excluded.duration,
         days = (select array_agg(nullif(coalesce(was, 0) + coalesce(more, 0), 0))
                   from unnest(counts.days, excluded.days) as days (was, more)),
         durations = (select array_agg(nullif(coalesce(was, 0) + coalesce(more, 0), 0))
                   from unnest(counts.durations, excluded.durations) as days (was, more));
      if cardinality(projects) > number_of_projects then
        insert into {{time_log_counts}} as counts (of_all, project_id, width, first_day, slot, total, duration, days, durations)
        select false, project_id, 32, date '0001-01-01' + block * 32, own_slot, sum(n), sum(duration),
               array[
             sum(n) filter (where day = 0),sum(n) filter (where day = 1),sum(n) filter (where day = 2),sum(n) filter (where day = 3),sum(n) filter (where day = 4),sum(n) filter (where day = 5),sum(n) filter (where day = 6),sum(n) filter (where day = 7),sum(n) filter (where day = 8),sum(n) filter (where day = 9),sum(n) filter (where day = 10),sum(n) filter (where day = 11),sum(n) filter (where day = 12),sum(n) filter (where day = 13),sum(n) filter (where day = 14),sum(n) filter (where day = 15),sum(n) filter (where day = 16),sum(n) filter (where day = 17),sum(n) filter (where day = 18),sum(n) filter (where day = 19),sum(n) filter (where day = 20),sum(n) filter (where day = 21),sum(n) filter (where day = 22),sum(n) filter (where day = 23),sum(n) filter (where day = 24),sum(n) filter (where day = 25),sum(n) filter (where day = 26),sum(n) filter (where day = 27),sum(n) filter (where day = 28),sum(n) filter (where day = 29),sum(n) filter (where day = 30),sum(n) filter (where day = 31)
           ]::integer[],
               array[
             sum(duration) filter (where day = 0),sum(duration) filter (where day = 1),sum(duration) filter (where day = 2),sum(duration) filter (where day = 3),sum(duration) filter (where day = 4),sum(duration) filter (where day = 5),sum(duration) filter (where day = 6),sum(duration) filter (where day = 7),sum(duration) filter (where day = 8),sum(duration) filter (where day = 9),sum(duration) filter (where day = 10),sum(duration) filter (where day = 11),sum(duration) filter (where day = 12),sum(duration) filter (where day = 13),sum(duration) filter (where day = 14),sum(duration) filter (where day = 15),sum(duration) filter (where day = 16),sum(duration) filter (where day = 17),sum(duration) filter (where day = 18),sum(duration) filter (where day = 19),sum(duration) filter (where day = 20),sum(duration) filter (where day = 21),sum(duration) filter (where day = 22),sum(duration) filter (where day = 23),sum(duration) filter (where day = 24),sum(duration) filter (where day = 25),sum(duration) filter (where day = 26),sum(duration) filter (where day = 27),sum(duration) filter (where day = 28),sum(duration) filter (where day = 29),sum(duration) filter (where day = 30),sum(duration) filter (where day = 31)
           ]
          from unnest(projects, blocks, days_of_block, numbers, sums) as changes (project_id, block, day, n, duration) group by project_id, block having min(day) <> max(day)
        on conflict on constraint time_log_counts_pkey do update
     set total = counts.total + excluded.total, duration = counts.duration + excluded.duration,
         days = (select array_agg(nullif(coalesce(was, 0) + coalesce(more, 0), 0))
                   from unnest(counts.days, excluded.days) as days (was, more)),
         durations = (select array_agg(nullif(coalesce(was, 0) + coalesce(more, 0), 0))
                   from unnest(counts.durations, excluded.durations) as days (was, more));
      end if;
    end if;
    perform set_config('time_logs.counting', counting, true);
    return null;
  end $$
--> KeepDurationSums1764547300000

  create or replace function {{forget_time_log_counts}}() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
      raise exception 'the counts of time logs would go wrong: set transaction isolation level read committed first'
        using errcode = 'invalid_transaction_state';
    end if;
    delete from {{time_log_counts}};
    return null;
  end $$
--> KeepDurationSums1764547300000

  create function {{time_log_count_differences_v2}}()
    returns table (of_all boolean, project_id uuid, width integer, first_day date,
                   total bigint, duration numeric, days integer[], durations numeric[])
    stable language sql as $$
    select * from (
      select of_all, project_id, width, first_day, sum(sign * total)::bigint as total, sum(sign * duration) as duration,
             case when width = 32 then array[
               nullif(sum(sign * days[1]), 0),nullif(sum(sign * days[2]), 0),nullif(sum(sign * days[3]), 0),nullif(sum(sign * days[4]), 0),nullif(sum(sign * days[5]), 0),nullif(sum(sign * days[6]), 0),nullif(sum(sign * days[7]), 0),nullif(sum(sign * days[8]), 0),nullif(sum(sign * days[9]), 0),nullif(sum(sign * days[10]), 0),nullif(sum(sign * days[11]), 0),nullif(sum(sign * days[12]), 0),nullif(sum(sign * days[13]), 0),nullif(sum(sign * days[14]), 0),nullif(sum(sign * days[15]), 0),nullif(sum(sign * days[16]), 0),nullif(sum(sign * days[17]), 0),nullif(sum(sign * days[18]), 0),nullif(sum(sign * days[19]), 0),nullif(sum(sign * days[20]), 0),nullif(sum(sign * days[21]), 0),nullif(sum(sign * days[22]), 0),nullif(sum(sign * days[23]), 0),nullif(sum(sign * days[24]), 0),nullif(sum(sign * days[25]), 0),nullif(sum(sign * days[26]), 0),nullif(sum(sign * days[27]), 0),nullif(sum(sign * days[28]), 0),nullif(sum(sign * days[29]), 0),nullif(sum(sign * days[30]), 0),nullif(sum(sign * days[31]), 0),nullif(sum(sign * days[32]), 0)
             ]::integer[] end as days,
             case when width = 32 then array[
               nullif(sum(sign * durations[1]), 0),nullif(sum(sign * durations[2]), 0),nullif(sum(sign * durations[3]), 0),nullif(sum(sign * durations[4]), 0),nullif(sum(sign * durations[5]), 0),nullif(sum(sign * durations[6]), 0),nullif(sum(sign * durations[7]), 0),nullif(sum(sign * durations[8]), 0),nullif(sum(sign * durations[9]), 0),nullif(sum(sign * durations[10]), 0),nullif(sum(sign * durations[11]), 0),nullif(sum(sign * durations[12]), 0),nullif(sum(sign * durations[13]), 0),nullif(sum(sign * durations[14]), 0),nullif(sum(sign * durations[15]), 0),nullif(sum(sign * durations[16]), 0),nullif(sum(sign * durations[17]), 0),nullif(sum(sign * durations[18]), 0),nullif(sum(sign * durations[19]), 0),nullif(sum(sign * durations[20]), 0),nullif(sum(sign * durations[21]), 0),nullif(sum(sign * durations[22]), 0),nullif(sum(sign * durations[23]), 0),nullif(sum(sign * durations[24]), 0),nullif(sum(sign * durations[25]), 0),nullif(sum(sign * durations[26]), 0),nullif(sum(sign * durations[27]), 0),nullif(sum(sign * durations[28]), 0),nullif(sum(sign * durations[29]), 0),nullif(sum(sign * durations[30]), 0),nullif(sum(sign * durations[31]), 0),nullif(sum(sign * durations[32]), 0)
             ] end as durations
        from (select 1 as sign, * from (
                
  select grouping(project_id) = 1 as of_all, coalesce(project_id, uuid '00000000-0000-0000-0000-000000000000') as project_id,
         case grouping(block) when 0 then 32 else 4096 end as width,
         date '0001-01-01' + coalesce(block * 32, span * 4096) as first_day,
         sum(n) as total, sum(duration) as duration,
         case grouping(block) when 0 then array[
             sum(n) filter (where day = 0),sum(n) filter (where day = 1),sum(n) filter (where day = 2),sum(n) filter (where day = 3),sum(n) filter (where day = 4),sum(n) filter (where day = 5),sum(n) filter (where day = 6),sum(n) filter (where day = 7),sum(n) filter (where day = 8),sum(n) filter (where day = 9),sum(n) filter (where day = 10),sum(n) filter (where day = 11),sum(n) filter (where day = 12),sum(n) filter (where day = 13),sum(n) filter (where day = 14),sum(n) filter (where day = 15),sum(n) filter (where day = 16),sum(n) filter (where day = 17),sum(n) filter (where day = 18),sum(n) filter (where day = 19),sum(n) filter (where day = 20),sum(n) filter (where day = 21),sum(n) filter (where day = 22),sum(n) filter (where day = 23),sum(n) filter (where day = 24),sum(n) filter (where day = 25),sum(n) filter (where day = 26),sum(n) filter (where day = 27),sum(n) filter (where day = 28),sum(n) filter (where day = 29),sum(n) filter (where day = 30),sum(n) filter (where day = 31)
           ]::integer[] end as days,
         case grouping(block) when 0 then array[
             sum(duration) filter (where day = 0),sum(duration) filter (where day = 1),sum(duration) filter (where day = 2),sum(duration) filter (where day = 3),sum(duration) filter (where day = 4),sum(duration) filter (where day = 5),sum(duration) filter (where day = 6),sum(duration) filter (where day = 7),sum(duration) filter (where day = 8),sum(duration) filter (where day = 9),sum(duration) filter (where day = 10),sum(duration) filter (where day = 11),sum(duration) filter (where day = 12),sum(duration) filter (where day = 13),sum(duration) filter (where day = 14),sum(duration) filter (where day = 15),sum(duration) filter (where day = 16),sum(duration) filter (where day = 17),sum(duration) filter (where day = 18),sum(duration) filter (where day = 19),sum(duration) filter (where day = 20),sum(duration) filter (where day = 21),sum(duration) filter (where day = 22),sum(duration) filter (where day = 23),sum(duration) filter (where day = 24),sum(duration) filter (where day = 25),sum(duration) filter (where day = 26),sum(duration) filter (where day = 27),sum(duration) filter (where day = 28),sum(duration) filter (where day = 29),sum(duration) filter (where day = 30),sum(duration) filter (where day = 31)
           ] end as durations
    from (select project_id, number / 32 as block, number / 4096 as span, number % 32 as day, n, duration
            from (select project_id, date - date '0001-01-01' as number, n, duration from (select project_id, date, count(*)::integer as n, sum(duration) as duration from {{time_logs}} group by 1, 2) source) numbered) placed
   group by grouping sets ((project_id, block), (project_id, span), (block), (span))) found
              union all
              select -1, of_all, project_id, width, first_day, total, duration, days, durations from {{time_log_counts}}) compared
       group by of_all, project_id, width, first_day) summed
     where total <> 0 or duration <> 0 or array_remove(days, null) <> '{}' or array_remove(durations, null) <> '{}'
  $$
--> KeepDurationSums1764547300000

  create or replace function {{rebuild_time_log_counts}}() returns bigint language plpgsql as $$
  #variable_conflict use_column
  declare
    own_slot integer := 0;
    wrong bigint;
    counting text := coalesce(current_setting('time_logs.counting', true), '');
  begin
    
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
      raise exception 'the counts of time logs would go wrong: set transaction isolation level read committed first'
        using errcode = 'invalid_transaction_state';
    end if;
    if not pg_try_advisory_xact_lock('{{time_logs'}}'::regclass::oid::integer, -1) then
      raise exception 'another rebuild of the counts of time logs is under way: wait for its end'
        using errcode = 'object_in_use';
    end if;
    perform set_config('time_logs.counting', 'on', true);
    
  while not pg_try_advisory_xact_lock('{{time_logs'}}'::regclass::oid::integer, own_slot) loop
    own_slot := own_slot + 1;
  end loop;
  insert into {{time_log_counts}} as counts (of_all, project_id, width, first_day, slot, total, duration, days, durations)
  select of_all, project_id, width, first_day, own_slot, total, duration, days, durations from (select * from {{time_log_count_differences_v2}}()) added
  on conflict on constraint time_log_counts_pkey do update
     set total = counts.total + excluded.total, duration = counts.duration + excluded.duration,
         days = (select array_agg(nullif(coalesce(was, 0) + coalesce(more, 0), 0))
                   from unnest(counts.days, excluded.days) as days (was, more)),
         durations = (select array_agg(nullif(coalesce(was, 0) + coalesce(more, 0), 0))
                   from unnest(counts.durations, excluded.durations) as days (was, more));
    get diagnostics wrong = row_count;
    perform set_config('time_logs.counting', counting, true);
    return wrong;
  end $$
--> KeepDurationSums1764547300000

  create function {{fold_time_log_counts}}(most integer) returns integer language plpgsql security definer set search_path = pg_catalog, pg_temp
    set enable_seqscan = off set enable_bitmapscan = off as $$
  #variable_conflict use_column
  declare
    own_slot integer := 0;
    source integer := 32768;
    folded integer := 0;
    moved integer;
    counting text := coalesce(current_setting('time_logs.counting', true), '');
  begin
    begin
      lock table {{time_logs}} in access share mode nowait;
    exception when lock_not_available then
      return 0;
    end;
    
  while not pg_try_advisory_xact_lock('{{time_logs'}}'::regclass::oid::integer, own_slot) loop
    own_slot := own_slot + 1;
  end loop;
    perform set_config('time_logs.counting', 'on', true);
    loop
      select max(slot) into source from {{time_log_counts}} where slot > 0 and slot > own_slot and slot < source;
      exit when source is null or folded >= most;
      continue when not pg_try_advisory_xact_lock('{{time_logs'}}'::regclass::oid::integer, source);
      with moved as (
        delete from {{time_log_counts}} where ctid = any (array(
          select ctid from {{time_log_counts}} where slot > 0 and slot = source limit most - folded)) returning *
      )
      
  insert into {{time_log_counts}} as counts (of_all, project_id, width, first_day, slot, total, duration, days, durations)
  select of_all, project_id, width, first_day, own_slot, total, duration, days, durations from (select * from moved) added
  on conflict on constraint time_log_counts_pkey do update
     set total = counts.total + excluded.total, duration = counts.duration + excluded.duration,
         days = (select array_agg(nullif(coalesce(was, 0) + coalesce(more, 0), 0))
                   from unnest(counts.days, excluded.days) as days (was, more)),
         durations = (select array_agg(nullif(coalesce(was, 0) + coalesce(more, 0), 0))
                   from unnest(counts.durations, excluded.durations) as days (was, more));
      get diagnostics moved = row_count;
      folded := folded + moved;
    end loop;
    perform set_config('time_logs.counting', counting, true);
    return folded;
  end $$
--> RequireDurationSums1764547400000
set local lock_timeout = '10s'
--> RequireDurationSums1764547400000
alter table {{time_log_counts}} alter column duration drop default, alter column durations drop default
--> SumDurations1764547500000
select pg_advisory_xact_lock('{{time_logs'}}'::regclass::oid::integer, -1)
--> SumDurations1764547500000
select {{rebuild_time_log_counts}}()
--> SumDurations1764547500000

  create function {{time_log_sum}}(project uuid, oldest date, newest date) returns table (n bigint, duration numeric)
    stable language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off set enable_bitmapscan = off as $$
  #variable_conflict use_column
  declare 
    first date := coalesce(oldest, date '0001-01-01');
    beyond date := coalesce(newest + 1, date '0001-01-01' + 3653632);
    has_spans boolean := (first + 4095) - ((first + 4095) - date '0001-01-01') % 4096 < beyond - (beyond - date '0001-01-01') % 4096;
    spans date := case when has_spans then (first + 4095) - ((first + 4095) - date '0001-01-01') % 4096 else beyond end;
    rest date := case when has_spans then beyond - (beyond - date '0001-01-01') % 4096 else beyond end;
  begin
    return query
      select coalesce(sum(n), 0)::bigint, coalesce(sum(duration), 0) from (
      select project_id, total as n, duration from {{time_log_counts}}
       where has_spans and of_all = (project is null) and project_id = coalesce(project, uuid '00000000-0000-0000-0000-000000000000') and width = 4096 and first_day >= spans and first_day < rest
      union all 
      select project_id, in_part.n, in_part.duration
        from {{time_log_counts}} counts cross join lateral (
          select counts.total, counts.duration where first_day >= first and first_day + 32 <= spans
          union all
          select sum(n), sum(value) from unnest(days[first - first_day + 1 : spans - first_day], durations[first - first_day + 1 : spans - first_day]) as day (n, value)
           where not (first_day >= first and first_day + 32 <= spans)
        ) in_part (n, duration)
       where first < spans and of_all = (project is null) and project_id = coalesce(project, uuid '00000000-0000-0000-0000-000000000000') and width = 32
         and first_day >= first - (first - date '0001-01-01') % 32 and first_day < spans
      union all 
      select project_id, in_part.n, in_part.duration
        from {{time_log_counts}} counts cross join lateral (
          select counts.total, counts.duration where first_day >= rest and first_day + 32 <= beyond
          union all
          select sum(n), sum(value) from unnest(days[rest - first_day + 1 : beyond - first_day], durations[rest - first_day + 1 : beyond - first_day]) as day (n, value)
           where not (first_day >= rest and first_day + 32 <= beyond)
        ) in_part (n, duration)
       where rest < beyond and of_all = (project is null) and project_id = coalesce(project, uuid '00000000-0000-0000-0000-000000000000') and width = 32
         and first_day >= rest - (rest - date '0001-01-01') % 32 and first_day < beyond) parts;
  end $$
--> SumDurations1764547500000

  create function {{time_log_project_sums}}(oldest date, newest date, skipped bigint, page_limit integer)
    returns table (n bigint, duration numeric, groups bigint, project_id uuid)
    stable language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off set enable_indexscan = off as $$
  #variable_conflict use_column
  declare 
    first date := coalesce(oldest, date '0001-01-01');
    beyond date := coalesce(newest + 1, date '0001-01-01' + 3653632);
    has_spans boolean := (first + 4095) - ((first + 4095) - date '0001-01-01') % 4096 < beyond - (beyond - date '0001-01-01') % 4096;
    spans date := case when has_spans then (first + 4095) - ((first + 4095) - date '0001-01-01') % 4096 else beyond end;
    rest date := case when has_spans then beyond - (beyond - date '0001-01-01') % 4096 else beyond end;
  begin
    return query
      with sums as (
        select project_id, sum(n)::bigint as n, sum(duration) as duration
          from (
      select project_id, total as n, duration from {{time_log_counts}}
       where has_spans and not of_all and width = 4096 and first_day >= spans and first_day < rest
      union all 
      select project_id, in_part.n, in_part.duration
        from {{time_log_counts}} counts cross join lateral (
          select counts.total, counts.duration where first_day >= first and first_day + 32 <= spans
          union all
          select sum(n), sum(value) from unnest(days[first - first_day + 1 : spans - first_day], durations[first - first_day + 1 : spans - first_day]) as day (n, value)
           where not (first_day >= first and first_day + 32 <= spans)
        ) in_part (n, duration)
       where first < spans and not of_all and width = 32
         and first_day >= first - (first - date '0001-01-01') % 32 and first_day < spans
      union all 
      select project_id, in_part.n, in_part.duration
        from {{time_log_counts}} counts cross join lateral (
          select counts.total, counts.duration where first_day >= rest and first_day + 32 <= beyond
          union all
          select sum(n), sum(value) from unnest(days[rest - first_day + 1 : beyond - first_day], durations[rest - first_day + 1 : beyond - first_day]) as day (n, value)
           where not (first_day >= rest and first_day + 32 <= beyond)
        ) in_part (n, duration)
       where rest < beyond and not of_all and width = 32
         and first_day >= rest - (rest - date '0001-01-01') % 32 and first_day < beyond) parts group by project_id having sum(n) > 0
      )
      (select coalesce(sum(n), 0)::bigint, coalesce(sum(duration), 0), count(*), null::uuid from sums)
      union all
      (select n, duration, null, project_id from sums order by duration desc, project_id offset skipped limit page_limit);
  end $$
--> SumDurations1764547500000

  create function {{time_log_period_sums}}(project uuid, oldest date, newest date, grouping_by text, skipped bigint, page_limit integer)
    returns table (n bigint, duration numeric, groups bigint, first_day date, last_day date)
    stable language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off set enable_bitmapscan = off as $$
  #variable_conflict use_column
  declare
    first date := coalesce(oldest, date '0001-01-01');
    last date := coalesce(newest, '9999-12-31');
  begin
    return query
      with found as materialized (
        select case grouping_by
    when 'day' then day
    when 'week' then day - (day - date '0001-01-01') % 7
    else date_trunc('month', day::timestamp)::date end as begins, sum(logs) as n, sum(summed) as duration
          from (select first_day + place::integer - 1 as day, logs, summed
                  from {{time_log_counts}} cross join unnest(days, durations) with ordinality as days_of_block (logs, summed, place)
                 where of_all = (project is null) and project_id = coalesce(project, uuid '00000000-0000-0000-0000-000000000000') and width = 32 and coalesce(logs, summed) is not null
                   and first_day > first - 32 and first_day <= last
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
  end $$
--> SumDurations1764547500000

  create function {{time_logs_between}}(project uuid, oldest date, newest date) returns bigint stable language plpgsql as $$
  declare
    first integer := oldest - date '0001-01-01';
    beyond integer := newest + 1 - date '0001-01-01';
  begin
    if oldest is null and newest is null then
      return (select coalesce(sum(total), 0) from {{time_log_counts}} where of_all = (project is null) and project_id = coalesce(project, uuid '00000000-0000-0000-0000-000000000000') and width = 4096);
    end if;
    if first / 4096 = beyond / 4096 then
      return (select coalesce(sum(case first_day when date '0001-01-01' + first / 32 * 32 then (select coalesce(sum(n), 0) from unnest(days[first % 32 + 1:]) n) else total end
                                - case first_day when date '0001-01-01' + beyond / 32 * 32 then (select coalesce(sum(n), 0) from unnest(days[beyond % 32 + 1:]) n) else 0 end), 0)
                from {{time_log_counts}}
               where of_all = (project is null) and project_id = coalesce(project, uuid '00000000-0000-0000-0000-000000000000') and width = 32 and first_day between date '0001-01-01' + first / 32 * 32 and date '0001-01-01' + beyond / 32 * 32);
    end if;
    return {{time_logs_since}}(project, coalesce(oldest, date '0001-01-01'))
         - case when newest is null then 0 else {{time_logs_since}}(project, newest + 1) end;
  end $$
--> SumDurations1764547500000

  create function {{time_log_page_v2}}(project uuid, first_day date, last_day date, skipped bigint, page_limit integer)
    returns table (total bigint, log {{time_logs}})
    stable language plpgsql set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
  #variable_conflict use_column
  declare
    newer bigint := case when skipped > 0 and last_day is not null then {{time_logs_since}}(project, last_day + 1) end;
    -- How many logs are newer than the first of the page: within all days, then within one span, one block, one day.
    rank bigint := coalesce(newer, 0) + skipped;
    bucket record;
    start_date date := coalesce(last_day, 'infinity');
    start_id uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  begin
    total := case when newer is null then {{time_logs_between}}(project, first_day, last_day)
                  else {{time_logs_since}}(project, coalesce(first_day, date '0001-01-01')) - newer end;
    return next;
    if skipped >= total then
      return;
    end if;
    total := null;
    if skipped > 0 then
      for bucket in
        select counts.first_day, sum(counts.total) as n from {{time_log_counts}} counts
         where of_all = (project is null) and project_id = coalesce(project, uuid '00000000-0000-0000-0000-000000000000') and width = 4096 group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
      for bucket in
        select counts.first_day, sum(counts.total) as n from {{time_log_counts}} counts
         where of_all = (project is null) and project_id = coalesce(project, uuid '00000000-0000-0000-0000-000000000000') and width = 32
           and counts.first_day >= bucket.first_day and counts.first_day < bucket.first_day + 4096
         group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
      for bucket in
        select counts.first_day + day::integer - 1 as date, sum(n) as n
          from {{time_log_counts}} counts cross join unnest(days) with ordinality as numbered (n, day)
         where of_all = (project is null) and project_id = coalesce(project, uuid '00000000-0000-0000-0000-000000000000') and width = 32 and counts.first_day = bucket.first_day and n is not null
         group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
    end if;
    if project is null then
      if skipped > 0 then
        select log.date, log.id into start_date, start_id from {{time_logs}} log
         where log.date = bucket.date order by log.id desc offset rank limit 1;
      end if;
      return query
        select null::bigint, log from {{time_logs}} log
         where (log.date, log.id) <= (start_date, start_id) and log.date >= coalesce(first_day, '-infinity')
         order by log.date desc, log.id desc limit page_limit;
    else
      if skipped > 0 then
        select log.date, log.id into start_date, start_id from {{time_logs}} log
         where log.project_id = project and log.date = bucket.date order by log.id desc offset rank limit 1;
      end if;
      return query
        select null::bigint, log from {{time_logs}} log
         where log.project_id = project
           and (log.date, log.id) <= (start_date, start_id) and log.date >= coalesce(first_day, '-infinity')
         order by log.date desc, log.id desc limit page_limit;
    end if;
  end $$
--> SumDurations1764547500000

  create function {{time_log_sum_of}}(projects uuid[], oldest date, newest date) returns table (n bigint, duration numeric)
    stable language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off set enable_bitmapscan = off as $$
  #variable_conflict use_column
  declare 
    first date := coalesce(oldest, date '0001-01-01');
    beyond date := coalesce(newest + 1, date '0001-01-01' + 3653632);
    has_spans boolean := (first + 4095) - ((first + 4095) - date '0001-01-01') % 4096 < beyond - (beyond - date '0001-01-01') % 4096;
    spans date := case when has_spans then (first + 4095) - ((first + 4095) - date '0001-01-01') % 4096 else beyond end;
    rest date := case when has_spans then beyond - (beyond - date '0001-01-01') % 4096 else beyond end;
  begin
    return query
      select coalesce(sum(n), 0)::bigint, coalesce(sum(duration), 0) from (
      select project_id, total as n, duration from {{time_log_counts}}
       where has_spans and not of_all and project_id = any(projects) and width = 4096 and first_day >= spans and first_day < rest
      union all 
      select project_id, in_part.n, in_part.duration
        from {{time_log_counts}} counts cross join lateral (
          select counts.total, counts.duration where first_day >= first and first_day + 32 <= spans
          union all
          select sum(n), sum(value) from unnest(days[first - first_day + 1 : spans - first_day], durations[first - first_day + 1 : spans - first_day]) as day (n, value)
           where not (first_day >= first and first_day + 32 <= spans)
        ) in_part (n, duration)
       where first < spans and not of_all and project_id = any(projects) and width = 32
         and first_day >= first - (first - date '0001-01-01') % 32 and first_day < spans
      union all 
      select project_id, in_part.n, in_part.duration
        from {{time_log_counts}} counts cross join lateral (
          select counts.total, counts.duration where first_day >= rest and first_day + 32 <= beyond
          union all
          select sum(n), sum(value) from unnest(days[rest - first_day + 1 : beyond - first_day], durations[rest - first_day + 1 : beyond - first_day]) as day (n, value)
           where not (first_day >= rest and first_day + 32 <= beyond)
        ) in_part (n, duration)
       where rest < beyond and not of_all and project_id = any(projects) and width = 32
         and first_day >= rest - (rest - date '0001-01-01') % 32 and first_day < beyond) parts;
  end $$
--> SumDurations1764547500000

  create function {{time_log_project_sums_of}}(projects uuid[], oldest date, newest date, skipped bigint, page_limit integer)
    returns table (n bigint, duration numeric, groups bigint, project_id uuid)
    stable language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off set enable_indexscan = off as $$
  #variable_conflict use_column
  declare 
    first date := coalesce(oldest, date '0001-01-01');
    beyond date := coalesce(newest + 1, date '0001-01-01' + 3653632);
    has_spans boolean := (first + 4095) - ((first + 4095) - date '0001-01-01') % 4096 < beyond - (beyond - date '0001-01-01') % 4096;
    spans date := case when has_spans then (first + 4095) - ((first + 4095) - date '0001-01-01') % 4096 else beyond end;
    rest date := case when has_spans then beyond - (beyond - date '0001-01-01') % 4096 else beyond end;
  begin
    return query
      with sums as (
        select project_id, sum(n)::bigint as n, sum(duration) as duration
          from (
      select project_id, total as n, duration from {{time_log_counts}}
       where has_spans and not of_all and project_id = any(projects) and width = 4096 and first_day >= spans and first_day < rest
      union all 
      select project_id, in_part.n, in_part.duration
        from {{time_log_counts}} counts cross join lateral (
          select counts.total, counts.duration where first_day >= first and first_day + 32 <= spans
          union all
          select sum(n), sum(value) from unnest(days[first - first_day + 1 : spans - first_day], durations[first - first_day + 1 : spans - first_day]) as day (n, value)
           where not (first_day >= first and first_day + 32 <= spans)
        ) in_part (n, duration)
       where first < spans and not of_all and project_id = any(projects) and width = 32
         and first_day >= first - (first - date '0001-01-01') % 32 and first_day < spans
      union all 
      select project_id, in_part.n, in_part.duration
        from {{time_log_counts}} counts cross join lateral (
          select counts.total, counts.duration where first_day >= rest and first_day + 32 <= beyond
          union all
          select sum(n), sum(value) from unnest(days[rest - first_day + 1 : beyond - first_day], durations[rest - first_day + 1 : beyond - first_day]) as day (n, value)
           where not (first_day >= rest and first_day + 32 <= beyond)
        ) in_part (n, duration)
       where rest < beyond and not of_all and project_id = any(projects) and width = 32
         and first_day >= rest - (rest - date '0001-01-01') % 32 and first_day < beyond) parts group by project_id having sum(n) > 0
      )
      (select coalesce(sum(n), 0)::bigint, coalesce(sum(duration), 0), count(*), null::uuid from sums)
      union all
      (select n, duration, null, project_id from sums order by duration desc, project_id offset skipped limit page_limit);
  end $$
--> SumDurations1764547500000

  create function {{time_log_period_sums_of}}(projects uuid[], oldest date, newest date, grouping_by text, skipped bigint, page_limit integer)
    returns table (n bigint, duration numeric, groups bigint, first_day date, last_day date)
    stable language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off set enable_bitmapscan = off as $$
  #variable_conflict use_column
  declare
    first date := coalesce(oldest, date '0001-01-01');
    last date := coalesce(newest, '9999-12-31');
  begin
    return query
      with found as materialized (
        select case grouping_by
    when 'day' then day
    when 'week' then day - (day - date '0001-01-01') % 7
    else date_trunc('month', day::timestamp)::date end as begins, sum(logs) as n, sum(summed) as duration
          from (select first_day + place::integer - 1 as day, logs, summed
                  from {{time_log_counts}} cross join unnest(days, durations) with ordinality as days_of_block (logs, summed, place)
                 where not of_all and project_id = any(projects) and width = 32 and coalesce(logs, summed) is not null
                   and first_day > first - 32 and first_day <= last
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
  end $$
--> SumDurations1764547500000

  create function {{time_log_page_of}}(projects uuid[], first_day date, last_day date, skipped bigint, page_limit integer)
    returns table (total bigint, log {{time_logs}})
    stable language plpgsql set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
  #variable_conflict use_column
  declare
    -- How many logs are newer than the first of the page: within all days, then within one span, one block, one day.
    rank bigint := skipped + case when skipped > 0 and last_day is not null
                                  then (select n from {{time_log_sum_of}}(projects, last_day + 1, null)) else 0 end;
    bucket record;
    start_date date := coalesce(last_day, 'infinity');
    start_id uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  begin
    total := (select n from {{time_log_sum_of}}(projects, first_day, last_day));
    return next;
    if skipped >= total then
      return;
    end if;
    total := null;
    if skipped > 0 then
      for bucket in
        select counts.first_day, sum(counts.total) as n from {{time_log_counts}} counts
         where not of_all and project_id = any(projects) and width = 4096 group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
      for bucket in
        select counts.first_day, sum(counts.total) as n from {{time_log_counts}} counts
         where not of_all and project_id = any(projects) and width = 32
           and counts.first_day >= bucket.first_day and counts.first_day < bucket.first_day + 4096
         group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
      for bucket in
        select counts.first_day + day::integer - 1 as date, sum(n) as n
          from {{time_log_counts}} counts cross join unnest(days) with ordinality as numbered (n, day)
         where not of_all and project_id = any(projects) and width = 32 and counts.first_day = bucket.first_day and n is not null
         group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
      select log.date, log.id into start_date, start_id from {{time_logs}} log
       where log.project_id = any(projects) and log.date = bucket.date order by log.id desc offset rank limit 1;
    end if;
    return query
      select null::bigint, whole.log
        from (
          select place.date, place.id
            from (select distinct project from unnest(projects) project) each
           cross join lateral (
             select log.date, log.id from {{time_logs}} log
              where log.project_id = each.project
                and (log.date, log.id) <= (start_date, start_id) and log.date >= coalesce(first_day, '-infinity')
              order by log.date desc, log.id desc limit page_limit
           ) place
           order by 1 desc, 2 desc limit page_limit
        ) page
       cross join lateral (select log from {{time_logs}} log where log.id = page.id) whole
       order by page.date desc, page.id desc;
  end $$
--> TellChanges1764547700000

      create table {{time_log_deletions}} (
        "position" bigint not null,
        id uuid not null,
        project_id uuid,
        deleted_at timestamptz(3) not null,
        constraint time_log_deletions_pkey primary key ("position", id)
      );
      create index time_log_deletions_mark_idx on {{time_log_deletions}} ("position", id) where project_id is null
--> TellChanges1764547700000

  create function {{tell_time_log_correction}}() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare
    here constant bigint := ((pg_current_xact_id())::text)::bigint + tg_argv[0]::bigint;
    asked constant bigint := new."position";
  begin
    new."position" := old."position";
    new.corrected_at := old.corrected_at;
    if new is distinct from old then
      if new.id <> old.id then
        new.corrected_at := null;
      elsif old."position" <> here then
        -- What this transaction has recorded itself stays created.
        new.corrected_at := clock_timestamp();
      end if;
      new."position" := here;
    end if;
    if asked <> old."position" then
      new."position" := greatest(asked, here);
    end if;
    if new."position" <> old."position" then
      -- It has the id of an event that was told of the log.
      delete from {{time_log_deletions}} where "position" = old."position" and id = old.id and project_id is not null;
    end if;
    return new;
  end $$
--> TellChanges1764547700000

  create function {{tell_time_log_deletions}}() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  #variable_conflict use_column
  declare
    ids uuid[];
    projects uuid[];
    positions bigint[];
  begin
    if tg_op <> 'TRUNCATE' and exists (
      select from {{time_log_deletions}} mark
       where mark.project_id is null and (mark."position", mark.id) >= (((pg_current_xact_id())::text)::bigint + tg_argv[0]::bigint, 'ffffffff-ffff-ffff-ffff-ffffffffffff')) then
      return null;
    end if;
    case tg_op
    when 'DELETE' then
      for ids, projects, positions in
        select array_agg(id), array_agg(project_id), array_agg("position")
          from (select id, project_id, "position", (row_number() over () - 1) / 100000 as part from changed) numbered
         group by part
      loop
        -- A log that was stored again after its deletion: that has the id of an event that was told of the log.
        delete from {{time_log_deletions}} deletion using unnest(positions, ids) as gone ("position", id)
         where deletion."position" = gone."position" and deletion.id = gone.id and deletion.project_id is not null;
        
        insert into {{time_log_deletions}} ("position", id, project_id, deleted_at)
        select ((pg_current_xact_id())::text)::bigint + tg_argv[0]::bigint, id, project_id, clock_timestamp() from unnest(ids, projects) as gone (id, project_id)
        on conflict ("position", id) do update set project_id = excluded.project_id, deleted_at = excluded.deleted_at;
      end loop;
    when 'UPDATE' then
      ids := array[old.id];
      projects := array[old.project_id];
      
        insert into {{time_log_deletions}} ("position", id, project_id, deleted_at)
        select ((pg_current_xact_id())::text)::bigint + tg_argv[0]::bigint, id, project_id, clock_timestamp() from unnest(ids, projects) as gone (id, project_id)
        on conflict ("position", id) do update set project_id = excluded.project_id, deleted_at = excluded.deleted_at;
    else
      delete from {{time_log_deletions}};
      insert into {{time_log_deletions}} ("position", id, project_id, deleted_at)
      -- Logs from before it are told one position further: no log of this transaction is there.
      values (((pg_current_xact_id())::text)::bigint + tg_argv[0]::bigint - 2, 'ffffffff-ffff-ffff-ffff-ffffffffffff', null, clock_timestamp());
    end case;
    return null;
  end $$
--> TellChanges1764547700000

  create function {{time_log_events}}(after_position bigint, after_id uuid, event_limit integer)
    returns table ("position" bigint, log {{time_logs}}, deletion {{time_log_deletions}})
    stable language plpgsql set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
  #variable_conflict use_column
  declare
    shift bigint := 
  coalesce((select substring(pg_get_expr(adbin, adrelid) from '[+] ''(\d+)''')::bigint
              from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
             where adrelid = '{{time_logs'}}'::regclass and attname = 'position'), 0);
    -- From here on there may still come events: of transactions that are under way, or have not begun.
    horizon bigint := pg_snapshot_xmin(pg_current_snapshot())::text::bigint + shift;
    begun_position bigint := coalesce(after_position, 0);
    begun_id uuid := coalesce(after_id, uuid '00000000-0000-0000-0000-000000000000');
    mark_position bigint;
    mark_id uuid;
  begin
    select "position", id into mark_position, mark_id from {{time_log_deletions}}
     where project_id is null order by "position" desc, id desc limit 1;
    if mark_position + 1 = after_position then
      -- A log from before the mark, or what happened at this position.
      select min(place."position") into begun_position
        from (select "position" from {{time_logs}} where id = after_id and "position" <= after_position
              union all select "position" from {{time_log_deletions}} where "position" = after_position and id = after_id) place;
    elsif (after_position, after_id) < (mark_position, mark_id) then
      begun_position := null;
    end if;
    if begun_position is null then
      raise exception 'the feed of % no longer reaches back to this event', '{{time_logs'}}' using errcode = 'TL410';
    end if;
    -- What is before the mark is told at one position: all of it must be final.
    if mark_position + 1 >= horizon then
      return;
    end if;
    return query
      -- Where a log was stored again in the transaction that deleted it, both are at one place: the log is told.
      select distinct on (place, id)
             case when (place, id) < (mark_position, mark_id) then mark_position + 1 else place end as told, log, deletion
        from ((select log."position" as place, log.id, log, null::{{time_log_deletions}} as deletion from {{time_logs}} log
                where (log."position", log.id) > (begun_position, begun_id) and log."position" < horizon
                order by log."position", log.id limit event_limit)
              union all
              (select gone."position", gone.id, null, gone from {{time_log_deletions}} gone
                where (gone."position", gone.id) > (begun_position, begun_id) and gone."position" < horizon
                  and (gone."position", gone.id) > (coalesce(mark_position, 0), coalesce(mark_id, uuid '00000000-0000-0000-0000-000000000000'))
                order by gone."position", gone.id limit event_limit)) happened
       order by place, id, deletion is not null limit event_limit;
  end $$
--> TellChanges1764547700000

  create function {{forget_time_log_deletions}}(before date) returns bigint language plpgsql as $$
  #variable_conflict use_column
  declare
    last_position bigint;
    last_id uuid;
    forgotten bigint;
  begin
    select "position", id into last_position, last_id from {{time_log_deletions}} gone
     where project_id is not null and deleted_at < before::timestamp at time zone 'UTC'
       and "position" + 1 < pg_snapshot_xmin(pg_current_snapshot())::text::bigint + 
  coalesce((select substring(pg_get_expr(adbin, adrelid) from '[+] ''(\d+)''')::bigint
              from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
             where adrelid = '{{time_logs'}}'::regclass and attname = 'position'), 0)
       and not exists (select from {{time_log_deletions}} mark where mark.project_id is null and mark."position" + 1 = gone."position")
     order by "position" desc, id desc limit 1;
    if last_position is null then
      return 0;
    end if;
    with gone as (
      delete from {{time_log_deletions}} where ("position", id) < (last_position, last_id) returning project_id
    )
    select count(project_id) + 1 into forgotten from gone;
    update {{time_log_deletions}} set project_id = null where "position" = last_position and id = last_id;
    return forgotten;
  end $$
--> TellChanges1764547700000

  create function {{drop_time_logs}}(before date, after_date date, after_id uuid, most integer, following bigint)
    returns table (dropped integer, removed integer, last_date date, last_id uuid)
    language plpgsql set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
  #variable_conflict use_column
  declare
    rows tid[];
  begin
    removed := 0;
    select array_agg(place), count(*), (array_agg(date order by date desc, id desc))[1], (array_agg(id order by date desc, id desc))[1]
      into rows, dropped, last_date, last_id
      from (select ctid as place, date, id from {{time_logs}}
             where date < before and (date, id) > (after_date, after_id)
             order by date, id limit most for update skip locked) found;
    if following is not null then
      if following <= pg_current_xact_id()::text::bigint then
        raise exception 'the transaction that follows must have begun later than this one';
      end if;
      if dropped > 0 then
        insert into {{time_log_deletions}} ("position", id, project_id, deleted_at)
        values (following - 1 + 
  coalesce((select substring(pg_get_expr(adbin, adrelid) from '[+] ''(\d+)''')::bigint
              from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
             where adrelid = '{{time_logs'}}'::regclass and attname = 'position'), 0), 'ffffffff-ffff-ffff-ffff-ffffffffffff', null, clock_timestamp());
      end if;
      delete from {{time_log_deletions}} where ctid = any (array(
        select gone.ctid from {{time_log_deletions}} gone
         where (gone."position", gone.id) < (select mark."position", mark.id from {{time_log_deletions}} mark
                                              where mark.project_id is null order by mark."position" desc, mark.id desc limit 1)
         order by gone."position", gone.id limit most for update skip locked));
      get diagnostics removed = row_count;
    end if;
    delete from {{time_logs}} where ctid = any (rows);
    return next;
  end $$
--> TellChanges1764547700000

  create function {{move_time_log_positions}}("after" bigint default 0) returns bigint
    language plpgsql set search_path = pg_catalog, pg_temp as $$
  declare
    is_start constant boolean := "after" is null;
    here text := format('table %s', '{{time_logs'}}'::regclass::oid);
    up_since constant text := extract(epoch from pg_postmaster_start_time());
    noted text[];
    newest bigint;
    next bigint;
    is_moved boolean;
    first numeric;
    ahead bigint;
    moved_by bigint := 0;
  begin
    if current_setting('transaction_isolation') <> 'read committed' then
      raise exception 'positions can be moved in a READ COMMITTED transaction alone: others may not see the last move';
    end if;
    -- One caller at a time: two that have read the table would wait for each other to lock it.
    perform pg_advisory_xact_lock('{{time_logs'}}'::regclass::oid::integer, -2);
    begin
      -- Not the timeline of the control file: after a promotion that is late.
      here := format('%s of server %s on timeline %s', here, (select system_identifier from pg_control_system()),
                     left(pg_walfile_name(pg_current_wal_lsn()), 8));
    exception when others then
      null; -- A managed server may refuse to tell (Aurora: 55000).
    end;
    noted := 
  regexp_match(obj_description('{{keep_time_log_positions'}}()'::regprocedure, 'pg_proc'),
               '^On (.+), up since ([0-9.]+)[.] At ([0-9.]+) no position had reached ([0-9]+)[.]$');
    
    select greatest((select max("position") from {{time_logs}}), (select max("position") from {{time_log_deletions}})) into newest;
    next := 
  
  coalesce((select substring(pg_get_expr(adbin, adrelid) from '[+] ''(\d+)''')::bigint
              from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
             where adrelid = '{{time_logs'}}'::regclass and attname = 'position'), 0) + greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
                                   pg_current_xact_id_if_assigned()::text::bigint + 1);
    if is_start and noted is null and newest is null then
      -- Nobody has a place in this feed yet.
      first := next;
    else
      -- Positions that are ahead are of elsewhere; or the default was set back.
      is_moved := not is_start or noted[1] is distinct from here
        or coalesce(newest >= next, false) or noted[4]::bigint > next;
      if not is_moved and noted[2] = up_since then
        return 0;
      end if;
      -- A table cannot be changed while triggers of rows of this transaction wait for its end.
      set constraints all immediate;
      begin
        -- A start waits as long as its statement may take, and less where the server has only started again.
        if is_start then
          perform set_config('lock_timeout', least(case when is_moved then 10000 else 500 end, (select nullif(setting::integer, 0) from pg_settings where name = 'statement_timeout') * 2 / 3)::text, true);
        end if;
        -- Writers must not have begun with the old default.
        lock table {{time_logs}} in access exclusive mode;
      exception when lock_not_available then
        if is_moved then
          raise exception 'the database has moved, so its feed must, but others use the table %: end their transactions, and start again', '{{time_logs'}}';
        end if;
        return 0; -- The next start will do.
      end;
      
    select greatest((select max("position") from {{time_logs}}), (select max("position") from {{time_log_deletions}})) into newest;
    next := 
  
  coalesce((select substring(pg_get_expr(adbin, adrelid) from '[+] ''(\d+)''')::bigint
              from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
             where adrelid = '{{time_logs'}}'::regclass and attname = 'position'), 0) + greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
                                   pg_current_xact_id_if_assigned()::text::bigint + 1);
      first := greatest(
  ceil(greatest(newest::numeric + 1, next,
    noted[4]::numeric + 4194304 * greatest(0, extract(epoch from clock_timestamp()) - noted[3]::numeric))), "after") + case when is_moved then 1099511627776 else 0 end;
      if first > 9000000000000000000 then
        raise exception 'there is no room for new positions after %: run update % set "position" = default where "position" > 8900000000000000000 in the database where that was set by mistake, and try again',
          greatest(newest, next), '{{time_logs'}}';
      end if;
      -- Every transaction that has yet to write has at least this number.
      ahead := first - pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
      moved_by := ahead - (
  coalesce((select substring(pg_get_expr(adbin, adrelid) from '[+] ''(\d+)''')::bigint
              from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
             where adrelid = '{{time_logs'}}'::regclass and attname = 'position'), 0));
      execute format('alter table %s alter column "position" set default ((pg_current_xact_id())::text)::bigint + %L::bigint',
                     '{{time_logs'}}', ahead);
  execute replace('
  create or replace trigger zz_tell_correction before update on {{time_logs'}} for each row
    when (old.* is distinct from new.*) execute function {{tell_time_log_correction'}}(''(shift)'');
  create or replace trigger tell_deletions after delete on {{time_logs'}} referencing old table as changed
    for each statement execute function {{tell_time_log_deletions'}}(''(shift)'');
  create or replace trigger tell_new_id after update on {{time_logs'}} for each row
    when (old.id <> new.id) execute function {{tell_time_log_deletions'}}(''(shift)'');
  create or replace trigger tell_truncation after truncate on {{time_logs'}}
    for each statement execute function {{tell_time_log_deletions'}}(''(shift)'')', '(shift)', (
  coalesce((select substring(pg_get_expr(adbin, adrelid) from '[+] ''(\d+)''')::bigint
              from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
             where adrelid = '{{time_logs'}}'::regclass and attname = 'position'), 0))::text);
    end if;
    execute format('comment on function %s() is %L', '{{keep_time_log_positions'}}',
                   format('On %s, up since %s. At %s no position had reached %s.',
                          here, up_since, extract(epoch from clock_timestamp()), first));
    return moved_by;
  end $$
--> TellChanges1764547700000

  create function {{keep_time_log_positions}}() returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
  begin
    return case when current_setting('transaction_read_only')::boolean then 0 else {{move_time_log_positions}}(null) end;
  end $$
--> TellChanges1764547700000
revoke execute on function {{tell_time_log_correction}}() from public
--> TellChanges1764547700000
revoke execute on function {{tell_time_log_deletions}}() from public
--> TellChanges1764547700000
set local lock_timeout = '10s'
--> TellChanges1764547700000
alter table {{time_logs}} add column corrected_at timestamptz(3)
--> TellChanges1764547700000
do $$ begin 
  execute replace('
  create or replace trigger zz_tell_correction before update on {{time_logs'}} for each row
    when (old.* is distinct from new.*) execute function {{tell_time_log_correction'}}(''(shift)'');
  create or replace trigger tell_deletions after delete on {{time_logs'}} referencing old table as changed
    for each statement execute function {{tell_time_log_deletions'}}(''(shift)'');
  create or replace trigger tell_new_id after update on {{time_logs'}} for each row
    when (old.id <> new.id) execute function {{tell_time_log_deletions'}}(''(shift)'');
  create or replace trigger tell_truncation after truncate on {{time_logs'}}
    for each statement execute function {{tell_time_log_deletions'}}(''(shift)'')', '(shift)', (
  coalesce((select substring(pg_get_expr(adbin, adrelid) from '[+] ''(\d+)''')::bigint
              from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
             where adrelid = '{{time_logs'}}'::regclass and attname = 'position'), 0))::text); end $$
--> AddTimeLogAttributes1764892800000
set local lock_timeout = '10s'
--> AddTimeLogAttributes1764892800000
alter table {{time_logs}} add column attributes jsonb
