--> CreateTimeLogs1763683200000

      create table {{.time_logs}} (
        id uuid not null constraint time_logs_pkey primary key,
        project_id uuid not null,
        duration numeric not null,
        description text not null,
        date date not null,
        constraint time_logs_id_is_uuidv7 check (substr(id::text, 15, 1) = '7'),
        constraint time_logs_duration_is_positive check (duration > 0 and duration < 'Infinity'),
        constraint time_logs_description_is_short check (char_length(description) <= 5000),
        constraint time_logs_date_has_four_digit_year check (date between '0001-01-01' and '9999-12-31')
      )
--> CreateTimeLogs1763683200000
create index time_logs_project_id_date_id_idx on {{.time_logs}} (project_id, date, id)
--> CreateTimeLogs1763683200000
create index time_logs_date_id_idx on {{.time_logs}} (date, id)
--> CreateTimeLogCounts1763769600000
set local lock_timeout = '10s'
--> CreateTimeLogCounts1763769600000

  create table {{time_log_counts}} (
    of_all boolean not null,
    project_id uuid not null,
    width smallint not null,
    first_day date not null,
    slot smallint not null,
    total bigint not null,
    days integer[],
    constraint time_log_counts_pkey primary key (of_all, project_id, width, first_day, slot)
  ) with (fillfactor = 70);
  comment on table {{time_log_counts}} is 'Kept by triggers of time_logs. A count is the sum over slots.';
  comment on column {{time_log_counts}}.of_all is 'Counts all projects together; project_id is nil then.';
  comment on column {{time_log_counts}}.width is 'Days from first_day on: 32, or 4096 without days.';
  comment on column {{time_log_counts}}.days is 'The count of each day; null for none.'
--> CreateTimeLogCounts1763769600000

  create function {{refuse_time_log_counts}}() returns trigger language plpgsql as 'begin return null; end';
  create trigger refuse_counts before insert on {{time_log_counts}} for each row
    when (current_setting('time_logs.counting', true) is distinct from 'on') execute function {{refuse_time_log_counts}}()
--> CreateTimeLogCounts1763769600000

  create or replace function {{count_time_logs}}() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  #variable_conflict use_column
  declare
    own_slot integer := 0;
    counting text := coalesce(current_setting('time_logs.counting', true), '');
  begin
    perform set_config('time_logs.counting', 'on', true);
    
  while not pg_try_advisory_xact_lock('{{time_logs'}}'::regclass::oid::integer, own_slot) loop
    own_slot := own_slot + 1;
  end loop;
  insert into {{time_log_counts}} as counts (of_all, project_id, width, first_day, slot, total, days)
  select of_all, project_id, width, first_day, own_slot, total, days from (
  select grouping(project_id) = 1 as of_all, coalesce(project_id, uuid '00000000-0000-0000-0000-000000000000') as project_id,
         case grouping(block) when 0 then 32 else 4096 end as width,
         date '0001-01-01' + coalesce(block * 32, span * 4096) as first_day,
         sum(n) as total,
         case grouping(block) when 0 then array[
           sum(n) filter (where day = 0),sum(n) filter (where day = 1),sum(n) filter (where day = 2),sum(n) filter (where day = 3),sum(n) filter (where day = 4),sum(n) filter (where day = 5),sum(n) filter (where day = 6),sum(n) filter (where day = 7),sum(n) filter (where day = 8),sum(n) filter (where day = 9),sum(n) filter (where day = 10),sum(n) filter (where day = 11),sum(n) filter (where day = 12),sum(n) filter (where day = 13),sum(n) filter (where day = 14),sum(n) filter (where day = 15),sum(n) filter (where day = 16),sum(n) filter (where day = 17),sum(n) filter (where day = 18),sum(n) filter (where day = 19),sum(n) filter (where day = 20),sum(n) filter (where day = 21),sum(n) filter (where day = 22),sum(n) filter (where day = 23),sum(n) filter (where day = 24),sum(n) filter (where day = 25),sum(n) filter (where day = 26),sum(n) filter (where day = 27),sum(n) filter (where day = 28),sum(n) filter (where day = 29),sum(n) filter (where day = 30),sum(n) filter (where day = 31)
         ]::integer[] end as days
    from (select project_id, number / 32 as block, number / 4096 as span, number % 32 as day, n
            from (select project_id, date - date '0001-01-01' as number, n from (select project_id, date, count(*)::integer * tg_argv[0]::integer as n from changed group by 1, 2) source) numbered) placed
   group by grouping sets ((project_id, block), (project_id, span), (block), (span))) added
  on conflict on constraint time_log_counts_pkey do update
     set total = counts.total + excluded.total,
         days = case when excluded.days is not null then array[
           nullif(coalesce(counts.days[1], 0) + coalesce(excluded.days[1], 0), 0),nullif(coalesce(counts.days[2], 0) + coalesce(excluded.days[2], 0), 0),nullif(coalesce(counts.days[3], 0) + coalesce(excluded.days[3], 0), 0),nullif(coalesce(counts.days[4], 0) + coalesce(excluded.days[4], 0), 0),nullif(coalesce(counts.days[5], 0) + coalesce(excluded.days[5], 0), 0),nullif(coalesce(counts.days[6], 0) + coalesce(excluded.days[6], 0), 0),nullif(coalesce(counts.days[7], 0) + coalesce(excluded.days[7], 0), 0),nullif(coalesce(counts.days[8], 0) + coalesce(excluded.days[8], 0), 0),nullif(coalesce(counts.days[9], 0) + coalesce(excluded.days[9], 0), 0),nullif(coalesce(counts.days[10], 0) + coalesce(excluded.days[10], 0), 0),nullif(coalesce(counts.days[11], 0) + coalesce(excluded.days[11], 0), 0),nullif(coalesce(counts.days[12], 0) + coalesce(excluded.days[12], 0), 0),nullif(coalesce(counts.days[13], 0) + coalesce(excluded.days[13], 0), 0),nullif(coalesce(counts.days[14], 0) + coalesce(excluded.days[14], 0), 0),nullif(coalesce(counts.days[15], 0) + coalesce(excluded.days[15], 0), 0),nullif(coalesce(counts.days[16], 0) + coalesce(excluded.days[16], 0), 0),nullif(coalesce(counts.days[17], 0) + coalesce(excluded.days[17], 0), 0),nullif(coalesce(counts.days[18], 0) + coalesce(excluded.days[18], 0), 0),nullif(coalesce(counts.days[19], 0) + coalesce(excluded.days[19], 0), 0),nullif(coalesce(counts.days[20], 0) + coalesce(excluded.days[20], 0), 0),nullif(coalesce(counts.days[21], 0) + coalesce(excluded.days[21], 0), 0),nullif(coalesce(counts.days[22], 0) + coalesce(excluded.days[22], 0), 0),nullif(coalesce(counts.days[23], 0) + coalesce(excluded.days[23], 0), 0),nullif(coalesce(counts.days[24], 0) + coalesce(excluded.days[24], 0), 0),nullif(coalesce(counts.days[25], 0) + coalesce(excluded.days[25], 0), 0),nullif(coalesce(counts.days[26], 0) + coalesce(excluded.days[26], 0), 0),nullif(coalesce(counts.days[27], 0) + coalesce(excluded.days[27], 0), 0),nullif(coalesce(counts.days[28], 0) + coalesce(excluded.days[28], 0), 0),nullif(coalesce(counts.days[29], 0) + coalesce(excluded.days[29], 0), 0),nullif(coalesce(counts.days[30], 0) + coalesce(excluded.days[30], 0), 0),nullif(coalesce(counts.days[31], 0) + coalesce(excluded.days[31], 0), 0),nullif(coalesce(counts.days[32], 0) + coalesce(excluded.days[32], 0), 0)
         ] end;
    perform set_config('time_logs.counting', counting, true);
    return null;
  end $$
--> CreateTimeLogCounts1763769600000

  create trigger count_inserted after insert on {{time_logs}} referencing new table as changed
     for each statement execute function {{count_time_logs}}('1');
  create trigger count_deleted after delete on {{time_logs}} referencing old table as changed
     for each statement execute function {{count_time_logs}}('-1');
  create trigger count_updated_from after update on {{time_logs}} referencing old table as changed
     for each statement execute function {{count_time_logs}}('-1');
  create trigger count_updated_to after update on {{time_logs}} referencing new table as changed
     for each statement execute function {{count_time_logs}}('1')
--> CreateTimeLogCounts1763769600000

  create function {{forget_time_log_counts}}() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    delete from {{time_log_counts}};
    return null;
  end $$;
  create trigger count_truncated after truncate on {{time_logs}} for each statement execute function {{forget_time_log_counts}}()
--> CreateTimeLogCounts1763769600000

  create function {{time_log_count_differences}}()
    returns table (of_all boolean, project_id uuid, width integer, first_day date, total bigint, days integer[])
    stable language sql as $$
    select * from (
      select of_all, project_id, width, first_day, sum(sign * total)::bigint as total,
             case when width = 32 then array[
               nullif(sum(sign * days[1]), 0),nullif(sum(sign * days[2]), 0),nullif(sum(sign * days[3]), 0),nullif(sum(sign * days[4]), 0),nullif(sum(sign * days[5]), 0),nullif(sum(sign * days[6]), 0),nullif(sum(sign * days[7]), 0),nullif(sum(sign * days[8]), 0),nullif(sum(sign * days[9]), 0),nullif(sum(sign * days[10]), 0),nullif(sum(sign * days[11]), 0),nullif(sum(sign * days[12]), 0),nullif(sum(sign * days[13]), 0),nullif(sum(sign * days[14]), 0),nullif(sum(sign * days[15]), 0),nullif(sum(sign * days[16]), 0),nullif(sum(sign * days[17]), 0),nullif(sum(sign * days[18]), 0),nullif(sum(sign * days[19]), 0),nullif(sum(sign * days[20]), 0),nullif(sum(sign * days[21]), 0),nullif(sum(sign * days[22]), 0),nullif(sum(sign * days[23]), 0),nullif(sum(sign * days[24]), 0),nullif(sum(sign * days[25]), 0),nullif(sum(sign * days[26]), 0),nullif(sum(sign * days[27]), 0),nullif(sum(sign * days[28]), 0),nullif(sum(sign * days[29]), 0),nullif(sum(sign * days[30]), 0),nullif(sum(sign * days[31]), 0),nullif(sum(sign * days[32]), 0)
             ]::integer[] end as days
        from (select 1 as sign, * from (
                
  select grouping(project_id) = 1 as of_all, coalesce(project_id, uuid '00000000-0000-0000-0000-000000000000') as project_id,
         case grouping(block) when 0 then 32 else 4096 end as width,
         date '0001-01-01' + coalesce(block * 32, span * 4096) as first_day,
         sum(n) as total,
         case grouping(block) when 0 then array[
           sum(n) filter (where day = 0),sum(n) filter (where day = 1),sum(n) filter (where day = 2),sum(n) filter (where day = 3),sum(n) filter (where day = 4),sum(n) filter (where day = 5),sum(n) filter (where day = 6),sum(n) filter (where day = 7),sum(n) filter (where day = 8),sum(n) filter (where day = 9),sum(n) filter (where day = 10),sum(n) filter (where day = 11),sum(n) filter (where day = 12),sum(n) filter (where day = 13),sum(n) filter (where day = 14),sum(n) filter (where day = 15),sum(n) filter (where day = 16),sum(n) filter (where day = 17),sum(n) filter (where day = 18),sum(n) filter (where day = 19),sum(n) filter (where day = 20),sum(n) filter (where day = 21),sum(n) filter (where day = 22),sum(n) filter (where day = 23),sum(n) filter (where day = 24),sum(n) filter (where day = 25),sum(n) filter (where day = 26),sum(n) filter (where day = 27),sum(n) filter (where day = 28),sum(n) filter (where day = 29),sum(n) filter (where day = 30),sum(n) filter (where day = 31)
         ]::integer[] end as days
    from (select project_id, number / 32 as block, number / 4096 as span, number % 32 as day, n
            from (select project_id, date - date '0001-01-01' as number, n from (select project_id, date, count(*)::integer as n from {{time_logs}} group by 1, 2) source) numbered) placed
   group by grouping sets ((project_id, block), (project_id, span), (block), (span))) found
              union all
              select -1, of_all, project_id, width, first_day, total, days from {{time_log_counts}}) compared
       group by of_all, project_id, width, first_day) summed
     where total <> 0 or array_remove(days, null) <> '{}'
  $$
--> CreateTimeLogCounts1763769600000

  create or replace function {{rebuild_time_log_counts}}() returns bigint language plpgsql as $$
  #variable_conflict use_column
  declare
    own_slot integer := 0;
    wrong bigint;
    counting text := coalesce(current_setting('time_logs.counting', true), '');
  begin
    perform set_config('time_logs.counting', 'on', true);
    
  while not pg_try_advisory_xact_lock('{{time_logs'}}'::regclass::oid::integer, own_slot) loop
    own_slot := own_slot + 1;
  end loop;
  insert into {{time_log_counts}} as counts (of_all, project_id, width, first_day, slot, total, days)
  select of_all, project_id, width, first_day, own_slot, total, days from (select * from {{time_log_count_differences}}()) added
  on conflict on constraint time_log_counts_pkey do update
     set total = counts.total + excluded.total,
         days = case when excluded.days is not null then array[
           nullif(coalesce(counts.days[1], 0) + coalesce(excluded.days[1], 0), 0),nullif(coalesce(counts.days[2], 0) + coalesce(excluded.days[2], 0), 0),nullif(coalesce(counts.days[3], 0) + coalesce(excluded.days[3], 0), 0),nullif(coalesce(counts.days[4], 0) + coalesce(excluded.days[4], 0), 0),nullif(coalesce(counts.days[5], 0) + coalesce(excluded.days[5], 0), 0),nullif(coalesce(counts.days[6], 0) + coalesce(excluded.days[6], 0), 0),nullif(coalesce(counts.days[7], 0) + coalesce(excluded.days[7], 0), 0),nullif(coalesce(counts.days[8], 0) + coalesce(excluded.days[8], 0), 0),nullif(coalesce(counts.days[9], 0) + coalesce(excluded.days[9], 0), 0),nullif(coalesce(counts.days[10], 0) + coalesce(excluded.days[10], 0), 0),nullif(coalesce(counts.days[11], 0) + coalesce(excluded.days[11], 0), 0),nullif(coalesce(counts.days[12], 0) + coalesce(excluded.days[12], 0), 0),nullif(coalesce(counts.days[13], 0) + coalesce(excluded.days[13], 0), 0),nullif(coalesce(counts.days[14], 0) + coalesce(excluded.days[14], 0), 0),nullif(coalesce(counts.days[15], 0) + coalesce(excluded.days[15], 0), 0),nullif(coalesce(counts.days[16], 0) + coalesce(excluded.days[16], 0), 0),nullif(coalesce(counts.days[17], 0) + coalesce(excluded.days[17], 0), 0),nullif(coalesce(counts.days[18], 0) + coalesce(excluded.days[18], 0), 0),nullif(coalesce(counts.days[19], 0) + coalesce(excluded.days[19], 0), 0),nullif(coalesce(counts.days[20], 0) + coalesce(excluded.days[20], 0), 0),nullif(coalesce(counts.days[21], 0) + coalesce(excluded.days[21], 0), 0),nullif(coalesce(counts.days[22], 0) + coalesce(excluded.days[22], 0), 0),nullif(coalesce(counts.days[23], 0) + coalesce(excluded.days[23], 0), 0),nullif(coalesce(counts.days[24], 0) + coalesce(excluded.days[24], 0), 0),nullif(coalesce(counts.days[25], 0) + coalesce(excluded.days[25], 0), 0),nullif(coalesce(counts.days[26], 0) + coalesce(excluded.days[26], 0), 0),nullif(coalesce(counts.days[27], 0) + coalesce(excluded.days[27], 0), 0),nullif(coalesce(counts.days[28], 0) + coalesce(excluded.days[28], 0), 0),nullif(coalesce(counts.days[29], 0) + coalesce(excluded.days[29], 0), 0),nullif(coalesce(counts.days[30], 0) + coalesce(excluded.days[30], 0), 0),nullif(coalesce(counts.days[31], 0) + coalesce(excluded.days[31], 0), 0),nullif(coalesce(counts.days[32], 0) + coalesce(excluded.days[32], 0), 0)
         ] end;
    get diagnostics wrong = row_count;
    perform set_config('time_logs.counting', counting, true);
    return wrong;
  end $$
--> CreateTimeLogCounts1763769600000

  create function {{time_logs_since}}(project uuid, day date) returns bigint stable language plpgsql as $$
  declare
    number integer := day - date '0001-01-01';
    block date := date '0001-01-01' + number / 32 * 32;
    span date := date '0001-01-01' + number / 4096 * 4096;
  begin
    return (select coalesce(sum(total), 0) from {{time_log_counts}} where of_all = (project is null) and project_id = coalesce(project, uuid '00000000-0000-0000-0000-000000000000') and width = 4096 and first_day > span)
         + (select coalesce(sum(case when first_day > block then total
                                     else (select sum(n) from unnest(days[number % 32 + 1:]) n) end), 0)
              from {{time_log_counts}}
             where of_all = (project is null) and project_id = coalesce(project, uuid '00000000-0000-0000-0000-000000000000') and width = 32 and first_day >= block and first_day < span + 4096);
  end $$
--> CreateTimeLogCounts1763769600000

  create function {{time_log_page}}(project uuid, first_day date, last_day date, skipped bigint, page_limit integer)
    returns table (total bigint, id uuid, project_id uuid, duration numeric, description text, date text)
    stable language plpgsql set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set datestyle = 'ISO' as $$
  #variable_conflict use_column
  declare
    newer bigint := case when last_day is null then 0 else {{time_logs_since}}(project, last_day + 1) end;
    -- How many logs are newer than the first of the page: within all days, then within one span, one block, one day.
    rank bigint := newer + skipped;
    bucket record;
    start_date date := coalesce(last_day, 'infinity');
    start_id uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  begin
    total := {{time_logs_since}}(project, coalesce(first_day, date '0001-01-01')) - newer;
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
        select null::bigint, log.id, log.project_id, log.duration, log.description, log.date::text from {{time_logs}} log
         where (log.date, log.id) <= (start_date, start_id) and log.date >= coalesce(first_day, '-infinity')
         order by log.date desc, log.id desc limit page_limit;
    else
      if skipped > 0 then
        select log.date, log.id into start_date, start_id from {{time_logs}} log
         where log.project_id = project and log.date = bucket.date order by log.id desc offset rank limit 1;
      end if;
      return query
        select null::bigint, log.id, log.project_id, log.duration, log.description, log.date::text from {{time_logs}} log
         where log.project_id = project
           and (log.date, log.id) <= (start_date, start_id) and log.date >= coalesce(first_day, '-infinity')
         order by log.date desc, log.id desc limit page_limit;
    end if;
  end $$
--> CountTimeLogs1763769700000
select {{rebuild_time_log_counts}}()
--> CreateTimeLogKeys1763856000000

      create table {{.time_log_keys}} (
        principal text not null,
        text text not null,
        fingerprint bytea not null,
        time_log_id uuid not null,
        created_at timestamptz(3) not null default now(),
        constraint time_log_keys_pkey primary key (principal, text)
      )
--> CreateTimeLogKeys1763856000000
create index time_log_keys_created_at_idx on {{.time_log_keys}} (created_at)
--> GuardCountFunctions1763856100000
revoke execute on function {{count_time_logs}}() from public
--> GuardCountFunctions1763856100000
revoke execute on function {{forget_time_log_counts}}() from public
