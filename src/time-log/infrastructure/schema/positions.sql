-- Keeps positions in the feed ascending from server to server, although each server has its own
-- transaction ids.

-- Returns the shift, the difference between positions and transaction ids. It is in the default of
-- the column.
create or replace function {{time_log_shift}}() returns bigint stable language sql as $$
  select coalesce((select substring(pg_get_expr(adbin, adrelid) from '[+] ''([0-9]+)''')::bigint
                     from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
                    where adrelid = '{{time_logs'}}'::regclass and attname = 'position'), 0)
$$;

-- Creates the triggers of the feed with the shift of the default as their argument. A transaction
-- uses the current arguments of triggers, like the current default, whatever its snapshot. Triggers
-- run in the order of their names: zz_publish_correction runs after those of a host, which may change
-- values too.
create or replace function {{attach_time_log_triggers}}() returns void language plpgsql as $$
begin
  execute replace('
    create or replace trigger zz_publish_correction before update on {{time_logs'}} for each row
      when (old.* is distinct from new.*) execute function {{publish_time_log_correction'}}(''(shift)'');
    create or replace trigger publish_deletions after delete on {{time_logs'}} referencing old table as changed
      for each statement execute function {{publish_time_log_deletions'}}(''(shift)'');
    create or replace trigger publish_new_id after update on {{time_logs'}} for each row
      when (old.id <> new.id) execute function {{publish_time_log_deletions'}}(''(shift)'');
    create or replace trigger publish_truncation after truncate on {{time_logs'}}
      for each statement execute function {{publish_time_log_deletions'}}(''(shift)'')', '(shift)', {{time_log_shift}}()::text);
end $$;

-- Returns the bounds of positions:
-- newest: the newest position of logs, deletions, departures and the mark; null if there are none.
-- next: the first position that is higher than those of all visible transactions, including the
-- current one.
-- noted: the values that the last start recorded: the server, its start time, the time of
-- recording, and a position that none had reached.
-- unreached: a position that none has reached, neither on this server nor on another one that has
-- continued from the same files or the same dump. No server assigns 4194304 positions in a second.
create or replace function {{time_log_position_bounds}}()
  returns table (newest bigint, next bigint, noted text[], unreached numeric) stable language sql as $$
  select newest, next, noted,
         ceil(greatest(newest::numeric + 1, next,
           noted[4]::numeric + 4194304 * greatest(0, extract(epoch from clock_timestamp()) - noted[3]::numeric)))
    from (select greatest((select max("position") from {{time_logs}}), (select max("position") from {{time_log_deletions}}),
                          (select max("position") from {{time_log_departures}})) as newest,
                 {{time_log_shift}}() + greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
                                                 pg_current_xact_id_if_assigned()::text::bigint + 1) as next,
                 -- They are recorded in the comment on the function that each start calls.
                 regexp_match((select obj_description(oid, 'pg_proc') from pg_proc where oid = to_regprocedure('{{keep_time_log_positions'}}()')),
                   '^On (.+), up since ([0-9.]+)[.] At ([0-9.]+) no position had reached ([0-9]+)[.]$') as noted) found
$$;

-- Moves new positions after all earlier ones, including those of other servers, and returns the
-- distance. A restore calls it with `after`, a position that none had reached on the other server.
-- A start calls it with null: it then moves positions only if the server or the table has changed
-- since the last start.
create or replace function {{move_time_log_positions}}("after" bigint default 0) returns bigint
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
  -- One caller at a time: two that have read the table would deadlock when they lock it.
  perform pg_advisory_xact_lock('{{time_logs'}}'::regclass::oid::integer, -2);
  begin
    -- The control file also has a timeline, but it is outdated right after a promotion.
    here := format('%s of server %s on timeline %s', here, (select system_identifier from pg_control_system()),
                   left(pg_walfile_name(pg_current_wal_lsn()), 8));
  exception when others then
    null; -- A managed server may reject these functions (Aurora: 55000).
  end;
  select bounds.noted, bounds.newest, bounds.next into noted, newest, next from {{time_log_position_bounds}}() bounds;
  if is_start and noted is null and newest is null then
    -- The feed has no events yet.
    first := next;
  else
    -- Positions that are ahead come from another server, or the default was reset.
    is_moved := not is_start or noted[1] is distinct from here
      or coalesce(newest >= next, false) or noted[4]::bigint > next;
    if not is_moved and noted[2] = up_since then
      return 0;
    end if;
    -- A table cannot be altered while deferred triggers of this transaction are pending.
    set constraints all immediate;
    begin
      -- A start waits for up to two thirds of its statement_timeout, and shorter if the server has
      -- only been restarted.
      if is_start then
        perform set_config('lock_timeout', least(case when is_moved then 10000 else 500 end,
          (select nullif(setting::integer, 0) from pg_settings where name = 'statement_timeout') * 2 / 3)::text, true);
      end if;
      -- No writer may be using the old default.
      lock table {{time_logs}} in access exclusive mode;
    exception when lock_not_available then
      if is_moved then
        raise exception 'the database has moved, so its feed must, but others use the table %: end their transactions, and start again', '{{time_logs'}}';
      end if;
      return 0; -- The next start will do.
    end;
    select greatest(bounds.unreached, "after") + case when is_moved then 1099511627776 else 0 end
      into first from {{time_log_position_bounds}}() bounds;
    if first > 9000000000000000000 then
      raise exception 'there is no room for new positions after %: run update % set "position" = default where "position" > 8900000000000000000 in the database where that was set by mistake, and try again',
        greatest(newest, next), '{{time_logs'}}';
    end if;
    -- Every transaction that can still write has at least the id xmin.
    ahead := first - pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    moved_by := ahead - {{time_log_shift}}();
    execute format('alter table %s alter column "position" set default ((pg_current_xact_id())::text)::bigint + %L::bigint',
                   '{{time_logs'}}', ahead);
    perform {{attach_time_log_triggers}}();
  end if;
  execute format('comment on function %s() is %L', '{{keep_time_log_positions'}}',
                 format('On %s, up since %s. At %s no position had reached %s.',
                        here, up_since, extract(epoch from clock_timestamp()), first));
  return moved_by;
end $$;

-- Moves positions at a start if necessary, and returns the distance. Every role may call it,
-- because it makes only necessary moves. On a read-only server it does nothing: a later start does
-- it.
create or replace function {{keep_time_log_positions}}() returns bigint
  security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' language plpgsql as $$
begin
  return case when current_setting('transaction_read_only')::boolean then 0 else {{move_time_log_positions}}(null) end;
end $$;
