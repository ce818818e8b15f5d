-- The waiting changes, and the fold that adds them to the counts.

-- Returns the waiting changes in the snapshot of the calling statement, into which it is inlined.
create or replace function {{waiting_time_log_changes}}() returns setof {{time_log_changes}} stable language sql as $$
  with bounds as materialized (
    select coalesce(fold.next_xid, 0) as first_xid,
           -- An old snapshot does not see later rows. Without this bound it would scan them.
           case when fold.next_xid is null then 9223372036854775807 else snapshot.next_xid end as end_xid,
           case when fold.next_xid is not null
                then array_append(fold.in_progress, case when snapshot.xid >= snapshot.next_xid then snapshot.xid end)
            end as in_progress
      from (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next_xid,
                   pg_current_xact_id_if_assigned()::text::bigint as xid) snapshot
      left join (select next_xid, in_progress, xmin::text::bigint = xid % 4294967296 as is_local
                   from {{time_log_folds}} order by id desc limit 1) fold
        on fold.is_local and fold.next_xid <= snapshot.next_xid
  )
  select change.* from {{time_log_changes}} change
   where xid >= (select first_xid from bounds) and xid < (select end_xid from bounds)
  union all
  select change.* from {{time_log_changes}} change where xid = any ((select in_progress from bounds)::bigint[])
$$;

-- Returns the logs of the waiting changes, for some projects or for all (null). It skips changes
-- without the only project, and then looks up the project of each log.
create or replace function {{waiting_time_logs}}(some_projects uuid[])
  returns table (project_id uuid, day date, n integer, duration numeric) stable language sql as $$
  select log.project, log.day, change.sign, change.sign * log.duration
    from {{waiting_time_log_changes}}() change,
         unnest(change.projects, change.days, change.durations) log (project, day, duration)
   where (some_projects is null or cardinality(some_projects) > 1 or some_projects[1] = any (change.projects))
     and (some_projects is null or log.project in (select unnest(some_projects)))
$$;

-- Adds the changes of about `most` logs, and at most the same number of rows of parts, to the
-- counts. Returns the number of logs or rows: less than `most` if none remain. Every sum stays the
-- same in every snapshot. One fold runs at a time; it waits for no other transaction and blocks
-- none. Every role may call it, because the service may own no tables.
create or replace function {{fold_time_log_counts}}(most integer) returns integer
  security definer set search_path = pg_catalog, pg_temp set jit = off
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off language plpgsql as $$
#variable_conflict use_column
declare
  folded integer;
  first_xid bigint;
  in_progress_xids bigint[];
  of_all_flags boolean[];
  projects uuid[];
  months date[];
  -- Only a superuser may add this setting to a function.
  counting constant text := coalesce(current_setting('time_logs.counting', true), '');
begin
  -- An empty fold would record that all changes are folded.
  most := greatest(most, 1);
  if current_setting('transaction_read_only')::boolean
     -- On a subscriber, the changes come from the publisher, which folds them.
     or exists (select from pg_subscription_rel where srrelid = '{{time_log_changes'}}'::regclass)
     or not pg_try_advisory_xact_lock('{{time_logs'}}'::regclass::oid::integer, -3) then
    return 0;
  end if;
  begin
    -- Concurrently, TRUNCATE would not see the rows that a fold moves.
    lock table {{time_logs}} in access share mode nowait;
  exception when lock_not_available then
    return 0;
  end;
  -- Reads the newest fold, if readers may rely on it. Only folds write this table, one at a time.
  select next_xid, in_progress into first_xid, in_progress_xids
    from (select next_xid, in_progress, xmin::text::bigint = xid % 4294967296 as is_local
            from {{time_log_folds}} order by id desc limit 1) fold
   where is_local and next_xid <= pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
  first_xid := coalesce(first_xid, 0);
  -- A snapshot older than the last fold prevents the removal of replaced rows. Folds then wait for
  -- more changes.
  if exists (select from pg_stat_activity, (select xid, xmin::text::bigint = xid % 4294967296 as is_local
                                             from {{time_log_folds}} order by id desc limit 1) fold
              where is_local and datname = current_database() and backend_type = 'client backend'
                and age(backend_xmin) > age((fold.xid % 4294967296)::text::xid))
     and (select coalesce(sum(abs(total)), 0) < 8192 and count(*) < 1024
            from (select total from {{waiting_time_log_changes}}() limit 1024) change) then
    return 0;
  end if;
  perform set_config('time_logs.counting', 'on', true);
  -- It reads by key, and only the changes that it folds, so that its cost does not depend on the
  -- backlog.
  with next as materialized (
    select xid, id, logs
      from (select xid, id, abs(total) as logs, sum(abs(total)) over (order by xid, id) as logs_so_far
              from ((select change.xid, change.id, change.total
                       from (select distinct unnest(in_progress_xids) as xid order by 1) other
                      cross join lateral (select xid, id, total from {{time_log_changes}} change
                                           where change.xid = other.xid order by change.xid, change.id limit most) change
                      limit most)
                    union all
                    (select xid, id, total from {{time_log_changes}} where xid >= first_xid order by xid, id limit most)) oldest) numbered
     where logs_so_far - logs < most
  ), taken as (
    delete from {{time_log_changes}} change using next where change.xid = next.xid and change.id = next.id
    returning change.sign, change.projects, change.days, change.durations
  ), part_months as (
    delete from {{time_log_months}} where ctid = any (array(
      select ctid from {{time_log_months}} where part > 0 order by part limit most)) returning *
  ), part_decades as (
    delete from {{time_log_decades}} where ctid = any (array(
      select ctid from {{time_log_decades}} where part > 0 order by part limit most)) returning *
  ), waiting as materialized (
    select log.project, log.day, sum(sign)::integer as n, sum(sign * log.duration) as duration
      from taken, unnest(projects, days, durations) log (project, day, duration) group by 1, 2
  ), each_day as (
    select of_all, project_id, month, day, sum(n)::integer as n, sum(duration) as duration
      from (select grouping(project) = 1 as of_all, coalesce(project, '00000000-0000-0000-0000-000000000000') as project_id,
                   date_trunc('month', day::timestamp)::date as month, extract(day from day)::integer as day,
                   sum(n) as n, sum(duration) as duration
              from waiting group by grouping sets ((project, day), (day))
            union all
            select of_all, project_id, month, day::integer, coalesce(n, 0), coalesce(summed, 0)
              from part_months, unnest(days, durations) with ordinality by_day (n, summed, day)
             where n is not null or summed is not null
            union all
            -- A rebuild may correct the total of a month without a day.
            select of_all, project_id, month, 0, total - of_days.n, duration - of_days.summed
              from part_months, lateral (select coalesce(sum(n), 0) as n, coalesce(sum(summed), 0) as summed
                                           from unnest(days, durations) by_day (n, summed)) of_days
             where total <> of_days.n or duration <> of_days.summed) found
     group by 1, 2, 3, 4 having sum(n) <> 0 or sum(duration) <> 0
  ), sums as materialized (
    select of_all, project_id, month, sum(n)::bigint as total, sum(duration) as duration,
           array_agg(day order by day) as days, array_agg(n order by day) as counts, array_agg(duration order by day) as durations
      from each_day group by 1, 2, 3
  ), updated as (
    update {{time_log_months}} row set total = row.total + sums.total, duration = row.duration + sums.duration,
           days = {{add_to_time_log_days}}(row.days, sums.days, sums.counts), durations = {{add_to_time_log_days}}(row.durations, sums.days, sums.durations)
      from sums
     where row.of_all = sums.of_all and row.project_id = sums.project_id and row.month = sums.month and row.part = 0
    returning row.of_all, row.project_id, row.month, row.total, row.duration
  ), inserted as (
    insert into {{time_log_months}} (of_all, project_id, month, total, duration, days, durations)
    select of_all, project_id, month, total, duration,
           {{add_to_time_log_days}}('{}'::integer[], days, counts), {{add_to_time_log_days}}('{}'::numeric[], days, durations)
      from sums where (of_all, project_id, month) not in (select of_all, project_id, month from updated)
  ), decades as (
    insert into {{time_log_decades}} as row (of_all, project_id, decade, total, duration)
    select of_all, project_id, decade, sum(total), sum(duration)
      from (select grouping(project) = 1 as of_all, coalesce(project, '00000000-0000-0000-0000-000000000000') as project_id,
                   {{time_log_decade}}(day) as decade, sum(n) as total, sum(duration) as duration
              from waiting group by grouping sets ((project, {{time_log_decade}}(day)), ({{time_log_decade}}(day)))
            union all
            select of_all, project_id, decade, total, duration from part_decades) found
     group by 1, 2, 3 having sum(total) <> 0 or sum(duration) <> 0
    on conflict (of_all, project_id, decade, part) do update
       set total = row.total + excluded.total, duration = row.duration + excluded.duration
    returning of_all, project_id, decade, total, duration
  ), new_fold as (
    -- The id follows the largest one, which may come from another server that the local sequence
    -- does not know.
    insert into {{time_log_folds}} (id, xid, next_xid, in_progress)
    select coalesce((select max(id) from {{time_log_folds}}), 0) + 1, xid, next_xid,
           array(select other.xid from (select snapshot.xid union all select xip::text::bigint from pg_snapshot_xip(pg_current_snapshot()) xip) other
                  where other.xid < next_xid)
      from (select pg_current_xact_id()::text::bigint as xid,
                   case when exists (select from {{time_log_changes}}
                                      where xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
                                        and xid <> pg_current_xact_id()::text::bigint)
                        -- Some changes came from a server with higher ids: readers read all until
                        -- the next fold.
                        then 9223372036854775807
                        -- The rest may start with the transaction of the last folded change.
                        -- Transactions after the snapshot may be in progress without being listed,
                        -- even with a lower id than this one.
                        else least((select max(xid) from next having sum(logs) >= most),
                                   pg_snapshot_xmax(pg_current_snapshot())::text::bigint) end as next_xid) snapshot
    -- Under REPEATABLE READ, this fails with 40001 if this fold does not see the last one.
    on conflict (id) do nothing
  )
  select greatest((select coalesce(sum(logs), 0) from next), (select count(*) from part_months), (select count(*) from part_decades)),
         array_agg(of_all), array_agg(project_id), array_agg(month)
    into folded, of_all_flags, projects, months
    from (select of_all, project_id, month, total, duration from updated union all table decades) changed
   where total = 0 and duration = 0;
  perform set_config('time_logs.counting', counting, true);
  -- Skips a row that a rebuild in progress is deleting, so as not to wait for it.
  delete from {{time_log_folds}} where id in (
    select id from {{time_log_folds}} where id < (select max(id) from {{time_log_folds}}) for update skip locked);
  -- Deletes rows that have become zero, each found by its key: a join would compare all with all. The first month of a
  -- decade has the date of the decade.
  delete from {{time_log_months}} where ctid = any (array(
    select zero.ctid from unnest(of_all_flags, projects, months) changed (of_all, project_id, month)
     cross join lateral (select ctid from {{time_log_months}} row
                          where row.of_all = changed.of_all and row.project_id = changed.project_id and row.month = changed.month and part = 0
                            and total = 0 and duration = 0 and array_remove(days, null) = '{}' and array_remove(durations, null) = '{}' limit 1) zero));
  delete from {{time_log_decades}} where ctid = any (array(
    select zero.ctid from unnest(of_all_flags, projects, months) changed (of_all, project_id, decade)
     cross join lateral (select ctid from {{time_log_decades}} row
                          where row.of_all = changed.of_all and row.project_id = changed.project_id and row.decade = changed.decade and part = 0
                            and total = 0 and duration = 0 limit 1) zero));
  return folded;
end $$;
