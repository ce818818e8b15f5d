-- The feed: logs in the order of their transactions, with their corrections and deletions. The
-- argument of the triggers is the shift: the difference between positions and transaction ids.

-- Called before the update of a log. If a value changes, the row moves to the end of the feed. A
-- position that the statement sets must not be earlier, because readers have passed earlier
-- positions. If the project changes, the log also leaves a departure.
create or replace function {{publish_time_log_correction}}() returns trigger
  security definer set search_path = pg_catalog, pg_temp language plpgsql as $$
declare
  here constant bigint := ((pg_current_xact_id())::text)::bigint + tg_argv[0]::bigint;
  asked constant bigint := new."position";
  removed {{time_log_deletions}};
begin
  new."position" := old."position";
  new.corrected_at := old.corrected_at;
  if new is distinct from old then
    if new.id <> old.id then
      new.corrected_at := null;
    elsif old."position" <> here then
      -- A log that this transaction has recorded itself stays an event of type created.
      new.corrected_at := clock_timestamp();
    end if;
    new."position" := here;
  end if;
  if asked <> old."position" then
    new."position" := greatest(asked, here);
  end if;
  if new."position" <> old."position" then
    -- Removes a deletion with the event id that the log has had so far.
    delete from {{time_log_deletions}} where "position" = old."position" and id = old.id and project_id is not null
    returning * into removed;
    if removed.project_id <> old.project_id then
      insert into {{time_log_departures}} ("position", id, project_id, left_at)
      values (removed."position", removed.id, removed.project_id, removed.deleted_at) on conflict do nothing;
    end if;
  end if;
  -- Nobody has seen the log in the projects that follow within one transaction.
  if new.project_id <> old.project_id and new.id = old.id
     and not exists (select from {{time_log_departures}} where "position" = here and id = old.id) then
    insert into {{time_log_departures}} ("position", id, project_id, left_at)
    values (here, old.id, old.project_id, clock_timestamp());
  end if;
  return new;
end $$;

-- Records deletions at a position. `positions` and `projects` are the last ones of the logs. It
-- replaces the deletion of a log that was stored again: that has the event id of the log. If the log
-- was stored in another project, readers of the first one get a departure instead.
create or replace function {{record_time_log_deletions}}(here bigint, positions bigint[], ids uuid[], projects uuid[])
  returns void language plpgsql as $$
#variable_conflict use_column
begin
  with removed as (
    delete from {{time_log_deletions}} deletion
     using unnest(positions || array_fill(here, array[cardinality(ids)]), ids || ids, projects || projects) as gone ("position", id, last_project)
     where deletion."position" = gone."position" and deletion.id = gone.id and deletion.project_id is not null
    returning deletion."position", deletion.id, project_id, deleted_at, last_project
  )
  insert into {{time_log_departures}} ("position", id, project_id, left_at)
  select "position", id, project_id, deleted_at from removed where project_id <> last_project on conflict do nothing;
  insert into {{time_log_deletions}} ("position", id, project_id, deleted_at)
  select here, id, project_id, clock_timestamp() from unnest(ids, projects) as gone (id, project_id)
  on conflict ("position", id) do update set project_id = excluded.project_id, deleted_at = excluded.deleted_at;
end $$;

-- Called after a statement that deletes logs, after an update that changes the id of a log, and
-- after TRUNCATE, which only writes the truncation mark. It reads the logs of a statement into
-- arrays of at most 10 MB. A log that is deleted twice in one transaction has one row. Deletions
-- before the mark are not published, so it writes none of them.
create or replace function {{publish_time_log_deletions}}() returns trigger
  security definer set search_path = pg_catalog, pg_temp language plpgsql as $$
#variable_conflict use_column
declare
  ids uuid[];
  projects uuid[];
  positions bigint[];
  here constant bigint := pg_current_xact_id()::text::bigint + tg_argv[0]::bigint;
begin
  if tg_op <> 'TRUNCATE' and exists (
    select from {{time_log_deletions}} mark
     where mark.project_id is null and (mark."position", mark.id) >= (here, 'ffffffff-ffff-ffff-ffff-ffffffffffff')) then
    return null;
  end if;
  case tg_op
  when 'DELETE' then
    for ids, projects, positions in
      select array_agg(id), array_agg(project_id), array_agg("position")
        from (select id, project_id, "position", (row_number() over () - 1) / 100000 as part from changed) numbered
       group by part
    loop
      perform {{record_time_log_deletions}}(here, positions, ids, projects);
    end loop;
  when 'UPDATE' then
    ids := array[old.id];
    perform {{record_time_log_deletions}}(here, array[old."position"], ids, array[old.project_id]);
  else
    delete from {{time_log_departures}};
    delete from {{time_log_deletions}};
    insert into {{time_log_deletions}} ("position", id, project_id, deleted_at)
    -- Earlier logs are published at the position after the mark, which no log of this transaction
    -- has.
    values (here - 2, 'ffffffff-ffff-ffff-ffff-ffffffffffff', null, clock_timestamp());
  end case;
  return null;
end $$;

-- Returns the events after a position in the feed (null is the start), in order: for each log
-- either its current values or its deletion. Deletions before the mark are unknown. A position
-- before the mark raises TL410, and logs before the mark get the position after it, so that a
-- consumer that starts now differs from one that started earlier. It is STABLE, so that the shift,
-- the horizon and the rows have the snapshot of the calling statement. With different snapshots, it
-- would miss a log that is committed in between.
create or replace function {{time_log_events}}(after_position bigint, after_id uuid, event_limit integer)
  returns table ("position" bigint, log {{time_logs}}, deletion {{time_log_deletions}}) stable language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
#variable_conflict use_column
declare
  shift bigint := {{time_log_shift}}();
  -- Transactions that are in progress or have not started may still add events from here on.
  horizon bigint := pg_snapshot_xmin(pg_current_snapshot())::text::bigint + shift;
  begun_position bigint := coalesce(after_position, 0);
  begun_id uuid := coalesce(after_id, '00000000-0000-0000-0000-000000000000');
  mark_position bigint;
  mark_id uuid;
begin
  select "position", id into mark_position, mark_id from {{time_log_deletions}}
   where project_id is null order by "position" desc, id desc limit 1;
  if mark_position + 1 = after_position then
    -- The consumer has read a log from before the mark, or an event at this position.
    select min(candidate."position") into begun_position
      from (select "position" from {{time_logs}} where id = after_id and "position" <= after_position
            union all select "position" from {{time_log_deletions}} where "position" = after_position and id = after_id) candidate;
  elsif (after_position, after_id) < (mark_position, mark_id) then
    begun_position := null;
  end if;
  if begun_position is null then
    raise exception 'the feed of % no longer reaches back to this event', '{{time_logs'}}' using errcode = 'TL410';
  end if;
  -- All logs before the mark are published at one position, so all of them must be committed.
  if mark_position + 1 >= horizon then
    return;
  end if;
  return query
    -- A log that was stored again in the transaction that deleted it has two events at one
    -- position: the log wins.
    select distinct on (at_position, id)
           case when (at_position, id) < (mark_position, mark_id) then mark_position + 1 else at_position end as published, log, deletion
      from ((select log."position" as at_position, log.id, log, null::{{time_log_deletions}} as deletion from {{time_logs}} log
              where (log."position", log.id) > (begun_position, begun_id) and log."position" < horizon
              order by log."position", log.id limit event_limit)
            union all
            (select gone."position", gone.id, null, gone from {{time_log_deletions}} gone
              where (gone."position", gone.id) > (begun_position, begun_id) and gone."position" < horizon
                and (gone."position", gone.id) > (coalesce(mark_position, 0), coalesce(mark_id, '00000000-0000-0000-0000-000000000000'))
              order by gone."position", gone.id limit event_limit)) happened
     order by at_position, id, deletion is not null limit event_limit;
end $$;

-- Forgets the deletions and departures from before a day (UTC). The cursor of the last of them becomes
-- the mark. Returns their number.
create or replace function {{forget_time_log_deletions}}(before date) returns bigint language plpgsql as $$
#variable_conflict use_column
declare
  last_position bigint;
  last_id uuid;
  forgotten bigint;
begin
  select "position", id into last_position, last_id
    from (select "position", id, deleted_at from {{time_log_deletions}} where project_id is not null
          union all select "position", id, left_at from {{time_log_departures}}) gone
   where deleted_at < before::timestamp at time zone 'UTC'
     and "position" + 1 < pg_snapshot_xmin(pg_current_snapshot())::text::bigint + {{time_log_shift}}()
     and not exists (select from {{time_log_deletions}} mark where mark.project_id is null and mark."position" + 1 = gone."position")
   order by "position" desc, id desc limit 1;
  if last_position is null then
    return 0;
  end if;
  with gone as (
    delete from {{time_log_deletions}} where ("position", id) <= (last_position, last_id) returning project_id
  ), departed as (
    delete from {{time_log_departures}} where ("position", id) <= (last_position, last_id) returning project_id
  )
  select (select count(project_id) from gone) + (select count(*) from departed) into forgotten;
  insert into {{time_log_deletions}} ("position", id, project_id, deleted_at) values (last_position, last_id, null, clock_timestamp());
  return forgotten;
end $$;

-- Drops up to `most` logs whose date is before a day, in the order of (date, id) after a given one.
-- It skips locked logs. Returns the number of dropped logs, the number of removed deletions, and
-- the date and id of the last log. `following` is the id of an open transaction that started later
-- than this one. With it, the feed has no deletions of these logs, but a mark right before the
-- position of that transaction. A consumer that has read any of the logs must start again, and
-- receives nothing until that transaction has ended. In a chain of such transactions, each open
-- when the previous one commits, consumers start again once for any number of logs. Deletions
-- before the mark are never published, so it also removes up to `most` of them, and of departures.
create or replace function {{drop_time_logs}}(before date, after_date date, after_id uuid, most integer, following bigint)
  returns table (dropped integer, removed integer, last_date date, last_id uuid) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
#variable_conflict use_column
declare
  rows tid[];
  departed integer;
begin
  removed := 0;
  select array_agg(row_id), count(*), (array_agg(date order by date desc, id desc))[1], (array_agg(id order by date desc, id desc))[1]
    into rows, dropped, last_date, last_id
    from (select ctid as row_id, date, id from {{time_logs}}
           where date < before and (date, id) > (after_date, after_id)
           order by date, id limit most for update skip locked) found;
  if following is not null then
    if following <= pg_current_xact_id()::text::bigint then
      raise exception 'the transaction that follows must have begun later than this one';
    end if;
    if dropped > 0 then
      insert into {{time_log_deletions}} ("position", id, project_id, deleted_at)
      values (following - 1 + {{time_log_shift}}(), 'ffffffff-ffff-ffff-ffff-ffffffffffff', null, clock_timestamp());
    end if;
    delete from {{time_log_deletions}} where ctid = any (array(
      select gone.ctid from {{time_log_deletions}} gone
       where (gone."position", gone.id) < (select mark."position", mark.id from {{time_log_deletions}} mark
                                            where mark.project_id is null order by mark."position" desc, mark.id desc limit 1)
       order by gone."position", gone.id limit most for update skip locked));
    get diagnostics removed = row_count;
    delete from {{time_log_departures}} where ctid = any (array(
      select gone.ctid from {{time_log_departures}} gone
       where (gone."position", gone.id) < (select mark."position", mark.id from {{time_log_deletions}} mark
                                            where mark.project_id is null order by mark."position" desc, mark.id desc limit 1)
       order by gone."position", gone.id limit most for update skip locked));
    get diagnostics departed = row_count;
    removed := removed + departed;
  end if;
  delete from {{time_logs}} where ctid = any (rows);
  return next;
end $$;

-- These functions run with the rights of the owner, so no other role may use them in triggers of
-- its own tables.
revoke execute on function {{publish_time_log_correction}}(), {{publish_time_log_deletions}}() from public;
