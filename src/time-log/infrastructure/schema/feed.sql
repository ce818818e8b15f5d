-- The feed: logs in the order of their transactions, with their corrections and deletions. See src/feed/README.md.
-- Triggers have the shift as their argument: by how much positions are ahead of the numbers of transactions.

-- Before the update of a log: the row moves to the end of the feed if a value changes. Nobody may put it before a
-- place that readers have passed.
create or replace function {{tell_time_log_correction}}() returns trigger
  security definer set search_path = pg_catalog, pg_temp language plpgsql as $$
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
end $$;

-- After a statement that deletes logs, after the update of a log that changes its id, and after TRUNCATE, which only
-- leaves the mark. It reads the logs of a statement into arrays, at most 10 MB at a time. A log that is deleted twice
-- in one transaction leaves one row. If the mark is later than this transaction, nobody would be told, and it writes
-- none.
create or replace function {{tell_time_log_deletions}}() returns trigger
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
      -- A log that was stored again after its deletion: that has the id of an event that was told of the log.
      delete from {{time_log_deletions}} deletion using unnest(positions, ids) as gone ("position", id)
       where deletion."position" = gone."position" and deletion.id = gone.id and deletion.project_id is not null;
      insert into {{time_log_deletions}} ("position", id, project_id, deleted_at)
      select here, id, project_id, clock_timestamp() from unnest(ids, projects) as gone (id, project_id)
      on conflict ("position", id) do update set project_id = excluded.project_id, deleted_at = excluded.deleted_at;
    end loop;
  when 'UPDATE' then
    ids := array[old.id];
    projects := array[old.project_id];
    insert into {{time_log_deletions}} ("position", id, project_id, deleted_at)
    select here, id, project_id, clock_timestamp() from unnest(ids, projects) as gone (id, project_id)
    on conflict ("position", id) do update set project_id = excluded.project_id, deleted_at = excluded.deleted_at;
  else
    delete from {{time_log_deletions}};
    insert into {{time_log_deletions}} ("position", id, project_id, deleted_at)
    -- Logs from before it are told one position further: no log of this transaction is there.
    values (here - 2, 'ffffffff-ffff-ffff-ffff-ffffffffffff', null, clock_timestamp());
  end case;
  return null;
end $$;

-- What happened after a place in the feed (null: its beginning): logs as they are, and deletions, of each the one or
-- the other, in their order. From before the mark no deletion is known: places there raise TL410, and logs from there
-- have the position after the mark, so that whoever begins now has another place than whoever began before. STABLE:
-- the shift, the horizon and the rows are those of one snapshot, that of the statement that calls it. With another
-- snapshot for one of them, a log that is committed in between would be passed over.
create or replace function {{time_log_events}}(after_position bigint, after_id uuid, event_limit integer)
  returns table ("position" bigint, log {{time_logs}}, deletion {{time_log_deletions}}) stable language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
#variable_conflict use_column
declare
  shift bigint := {{time_log_shift}}();
  -- From here on there may still come events: of transactions that are under way, or have not begun.
  horizon bigint := pg_snapshot_xmin(pg_current_snapshot())::text::bigint + shift;
  begun_position bigint := coalesce(after_position, 0);
  begun_id uuid := coalesce(after_id, '00000000-0000-0000-0000-000000000000');
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
                and (gone."position", gone.id) > (coalesce(mark_position, 0), coalesce(mark_id, '00000000-0000-0000-0000-000000000000'))
              order by gone."position", gone.id limit event_limit)) happened
     order by place, id, deletion is not null limit event_limit;
end $$;

-- Forgets the deletions of before a day (UTC): the last of them becomes the mark. Returns how many.
create or replace function {{forget_time_log_deletions}}(before date) returns bigint language plpgsql as $$
#variable_conflict use_column
declare
  last_position bigint;
  last_id uuid;
  forgotten bigint;
begin
  select "position", id into last_position, last_id from {{time_log_deletions}} gone
   where project_id is not null and deleted_at < before::timestamp at time zone 'UTC'
     and "position" + 1 < pg_snapshot_xmin(pg_current_snapshot())::text::bigint + {{time_log_shift}}()
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
end $$;

-- Drops the next logs whose date is before a day, after a place in the order of (date, id): at most so many, and none
-- that others hold. Returns how many, and the place of the last one. With `following`, the number of a transaction
-- that is open and has begun later than this one, the feed does not tell that they are gone. It gets a mark right
-- before the place of that transaction instead. So whoever has read any of them begins anew, and gets nothing before
-- that transaction has ended: a chain of such transactions, each open when the one before commits, drops any number
-- of logs, and readers begin anew once. Deletions from before the mark are never told, so as many of them are removed
-- too.
create or replace function {{drop_time_logs}}(before date, after_date date, after_id uuid, most integer, following bigint)
  returns table (dropped integer, removed integer, last_date date, last_id uuid) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
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
      values (following - 1 + {{time_log_shift}}(), 'ffffffff-ffff-ffff-ffff-ffffffffffff', null, clock_timestamp());
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
end $$;

-- With the rights of the owner: nobody else may bind them to a table of their own.
revoke execute on function {{tell_time_log_correction}}(), {{tell_time_log_deletions}}() from public;
