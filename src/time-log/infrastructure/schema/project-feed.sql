-- The feed of some projects.

-- Returns the secret with which the service encrypts cursors between events of other projects. It is a
-- comment, which dumps and replicas have too.
create or replace function {{time_log_cursor_key}}() returns text stable language sql as $$
  select obj_description(to_regprocedure('{{time_log_cursor_key'}}()'), 'pg_proc')
$$;
do $$ begin
  if {{time_log_cursor_key}}() is null then
    execute format('comment on function %s() is %L', '{{time_log_cursor_key'}}', 'Secret: ' || gen_random_uuid() || gen_random_uuid());
  end if;
end $$;

-- Returns the events of some projects after a cursor in the feed (null is the start), in order. They
-- are among the next `look_limit` events of all projects. A log outside these projects that has left
-- one of them is a deletion. Each row also has the cursor right after it: a position and an id as
-- stored, with the mark (0 if there is none). A page with fewer events than `event_limit` has a last
-- row without an event, with the cursor where it stopped and whether that is the end of the feed. A
-- page that cannot move on has no rows. `after_mark` is not null for such cursors: behind the mark
-- they are valid as long as it is the same. For positions, errors and STABLE see time_log_events.
create or replace function {{time_log_project_events}}(
    projects uuid[], after_mark bigint, after_position bigint, after_id uuid, event_limit integer, look_limit integer)
  returns table ("position" bigint, log {{time_logs}}, deletion {{time_log_deletions}},
                 mark bigint, cursor_position bigint, cursor_id uuid, is_end boolean) stable language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
#variable_conflict use_column
declare
  horizon constant bigint := pg_snapshot_xmin(pg_current_snapshot())::text::bigint + {{time_log_shift}}();
  first_id constant uuid := '00000000-0000-0000-0000-000000000000';
  -- After every log, and before the id of a mark: a cursor at the end must be before a later mark.
  last_id constant uuid := 'ffffffff-ffff-ffff-ffff-fffffffffffe';
  begun_position bigint := coalesce(after_position, 0);
  begun_id constant uuid := coalesce(after_id, first_id);
  mark_position bigint;
  mark_id uuid;
  stop_position bigint;
  stop_id uuid;
  is_cut boolean;
  found_events integer;
begin
  select "position", id into mark_position, mark_id from {{time_log_deletions}}
   where project_id is null order by "position" desc, id desc limit 1;
  if mark_position + 1 = after_position and after_mark is null then
    -- The consumer has read a log from before the mark, or an event at this position.
    select min(candidate."position") into begun_position
      from (select "position" from {{time_logs}} where id = after_id and "position" <= after_position
            union all select "position" from {{time_log_deletions}} where "position" = after_position and id = after_id
            union all select "position" from {{time_log_departures}} where "position" = after_position and id = after_id) candidate;
  elsif ((after_position, after_id) < (mark_position, mark_id) or after_position = mark_position + 1)
        and after_mark is distinct from mark_position then
    begun_position := null;
  end if;
  if begun_position is null then
    raise exception 'the feed of % no longer reaches back to this event', '{{time_logs'}}' using errcode = 'TL410';
  end if;
  -- On a standby that is behind, the consumer may have read more than there is.
  if mark_position + 1 >= horizon or (begun_position, begun_id) >= (horizon - 1, last_id) then
    return;
  end if;
  select "position", id into stop_position, stop_id
    from ((select log."position", log.id from {{time_logs}} log
            where (log."position", log.id) > (begun_position, begun_id) and log."position" < horizon
            order by log."position", log.id limit look_limit)
          union all
          (select gone."position", gone.id from {{time_log_deletions}} gone
            where (gone."position", gone.id) > (begun_position, begun_id) and gone."position" < horizon
              and (gone."position", gone.id) > (coalesce(mark_position, 0), coalesce(mark_id, first_id))
            order by gone."position", gone.id limit look_limit)
          union all
          (select gone."position", gone.id from {{time_log_departures}} gone
            where (gone."position", gone.id) > (begun_position, begun_id) and gone."position" < horizon
              and (gone."position", gone.id) > (coalesce(mark_position, 0), coalesce(mark_id, first_id))
            order by gone."position", gone.id limit look_limit)) looked
   order by "position", id offset look_limit - 1 limit 1;
  is_cut := found;
  if not is_cut then
    stop_position := horizon - 1;
    stop_id := last_id;
  end if;
  return query
    select distinct on (at_position, id)
           case when (at_position, id) < (mark_position, mark_id) then mark_position + 1 else at_position end as published, log, deletion,
           coalesce(mark_position, 0), at_position, id, false
      from ((select log."position" as at_position, log.id, log, null::{{time_log_deletions}} as deletion, 1 as rank from {{time_logs}} log
              where (log."position", log.id) > (begun_position, begun_id) and (log."position", log.id) <= (stop_position, stop_id)
                and log.project_id = any (projects)
              order by log."position", log.id limit event_limit)
            union all
            (select gone."position", gone.id, null, gone, 2 from {{time_log_deletions}} gone
              where (gone."position", gone.id) > (begun_position, begun_id) and (gone."position", gone.id) <= (stop_position, stop_id)
                and (gone."position", gone.id) > (coalesce(mark_position, 0), coalesce(mark_id, first_id))
                and gone.project_id = any (projects)
              order by gone."position", gone.id limit event_limit)
            union all
            -- A log that is in one of the projects now has an event at its position, here or later.
            (select distinct on (gone."position", gone.id) gone."position", gone.id, null,
                    row(gone."position", gone.id, gone.project_id, gone.left_at)::{{time_log_deletions}}, 3
               from {{time_log_departures}} gone
              where (gone."position", gone.id) > (begun_position, begun_id) and (gone."position", gone.id) <= (stop_position, stop_id)
                and (gone."position", gone.id) > (coalesce(mark_position, 0), coalesce(mark_id, first_id))
                and gone.project_id = any (projects)
                and not exists (select from {{time_logs}} log where log.id = gone.id and log.project_id = any (projects))
              order by gone."position", gone.id, gone.project_id limit event_limit)) happened
     order by at_position, id, rank limit event_limit;
  get diagnostics found_events = row_count;
  if found_events < event_limit then
    return query select null::bigint, null::{{time_logs}}, null::{{time_log_deletions}}, coalesce(mark_position, 0), stop_position, stop_id, not is_cut;
  end if;
end $$;
