-- The triggers that record each change of logs. A statement appends rows and updates no row of
-- counts, so that writers never wait for each other.

create or replace function {{time_log_decade}}(day date) returns date immutable parallel safe language sql as $$
  select make_date(greatest(extract(year from day)::integer / 10 * 10, 1), 1, 1)
$$;

-- Adds values to the array of a month, each at its day. The days must be ascending. Day 0 is
-- ignored.
create or replace function {{add_to_time_log_days}}(sums anyarray, days integer[], added anyarray) returns anyarray
  immutable strict parallel safe language plpgsql as $$
begin
  if cardinality(sums) < days[cardinality(days)] then
    -- added[0] is a null of the element type.
    sums := sums || array_fill(added[0], array[days[cardinality(days)] - cardinality(sums)]);
  end if;
  for i in 1 .. cardinality(days) loop
    continue when days[i] = 0;
    sums[days[i]] := nullif(coalesce(sums[days[i]], 0) + added[i], 0);
  end loop;
  return sums;
end $$;

-- Called by statement triggers, with the sign as their argument. A statement that changed more than
-- 4096 logs inserts rows of months under a part number of its own. Readers find them by key, and a
-- fold need not wait for its transaction.
create or replace function {{count_time_logs}}() returns trigger
  security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
  language plpgsql as $$
declare
  sign constant integer := tg_argv[0];
  own_part bigint;
begin
  insert into {{time_log_changes}} (sign, total, duration, first_day, last_day, projects, days, durations)
  select sign, sign * count(*), sign * sum(duration), min(date), max(date),
         array_agg(project_id), array_agg(date), array_agg(duration)
    from (select project_id, date, duration from changed limit 257) sample
  having count(*) between 1 and 256;
  if found then
    return null;
  end if;
  if (select count(*) <= 4096 from (select from changed limit 4097) sample) then
    insert into {{time_log_changes}} (sign, total, duration, first_day, last_day, projects, days, durations)
    select sign, sign * count(*), sign * sum(duration), min(date), max(date),
           array_agg(project_id), array_agg(date), array_agg(duration)
      from (select project_id, date, duration, row_number() over () / 256 as piece from changed) numbered
     group by piece;
    return null;
  end if;
  -- Random, because a sequence could repeat a number of rows that were restored from another
  -- server.
  own_part := 1 + (hashtextextended(gen_random_uuid()::text, 0) & 9223372036854775806);
  with each_day as (
    select grouping(project_id) = 1 as of_all,
           coalesce(project_id, '00000000-0000-0000-0000-000000000000') as project_id, date,
           (sign * count(*))::integer as n, sign * sum(duration) as duration
      from changed group by grouping sets ((project_id, date), (date))
  ), months as (
    insert into {{time_log_months}} (of_all, project_id, month, part, total, duration, days, durations)
    select of_all, project_id, date_trunc('month', date::timestamp)::date, own_part, sum(n), sum(duration),
           {{add_to_time_log_days}}('{}'::integer[], array_agg(extract(day from date)::integer order by date), array_agg(n order by date)),
           {{add_to_time_log_days}}('{}'::numeric[], array_agg(extract(day from date)::integer order by date), array_agg(duration order by date))
      from each_day group by 1, 2, 3
    returning of_all, project_id, month, total, duration
  )
  insert into {{time_log_decades}} (of_all, project_id, decade, part, total, duration)
  select of_all, project_id, {{time_log_decade}}(month), own_part, sum(total), sum(duration) from months group by 1, 2, 3;
  return null;
end $$;

-- Called by a trigger after TRUNCATE, which locks the table: no writer and no fold is in progress.
create or replace function {{forget_time_log_counts}}() returns trigger
  security definer set search_path = pg_catalog, pg_temp language plpgsql as $$
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception 'the counts of time logs would go wrong: set transaction isolation level read committed first'
      using errcode = 'invalid_transaction_state';
  end if;
  delete from {{time_log_changes}};
  delete from {{time_log_months}};
  delete from {{time_log_decades}};
  return null;
end $$;

-- Skips rows that the counting itself has not written, for example those of a data-only restore,
-- whose logs are counted by the triggers.
create or replace function {{refuse_time_log_counts}}() returns trigger language plpgsql as 'begin return null; end';

-- These functions run with the rights of the owner, so no other role may use them in triggers of
-- its own tables.
revoke execute on function {{count_time_logs}}(), {{forget_time_log_counts}}() from public;

create or replace trigger count_inserted after insert on {{time_logs}} referencing new table as changed
  for each statement execute function {{count_time_logs}}('1');
create or replace trigger count_deleted after delete on {{time_logs}} referencing old table as changed
  for each statement execute function {{count_time_logs}}('-1');
create or replace trigger count_updated_from after update on {{time_logs}} referencing old table as changed
  for each statement execute function {{count_time_logs}}('-1');
create or replace trigger count_updated_to after update on {{time_logs}} referencing new table as changed
  for each statement execute function {{count_time_logs}}('1');
create or replace trigger count_truncated after truncate on {{time_logs}}
  for each statement execute function {{forget_time_log_counts}}();
create or replace trigger refuse_changes before insert on {{time_log_changes}} for each row
  when (pg_trigger_depth() = 0) execute function {{refuse_time_log_counts}}();
create or replace trigger refuse_months before insert on {{time_log_months}} for each row
  when (pg_trigger_depth() = 0 and current_setting('time_logs.counting', true) is distinct from 'on')
  execute function {{refuse_time_log_counts}}();
create or replace trigger refuse_decades before insert on {{time_log_decades}} for each row
  when (pg_trigger_depth() = 0 and current_setting('time_logs.counting', true) is distinct from 'on')
  execute function {{refuse_time_log_counts}}();
create or replace trigger refuse_folds before insert on {{time_log_folds}} for each row
  when (current_setting('time_logs.counting', true) is distinct from 'on')
  execute function {{refuse_time_log_counts}}();
