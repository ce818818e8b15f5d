-- Leads the tables of version 0.3 to those of this version, and drops its functions
-- that are gone or return something else. The current functions are created afterwards.

-- Rows of counts that have become zero, which folds of 0.3 have left behind.
delete from {{time_log_months}}
 where part = 0 and total = 0 and duration = 0 and array_remove(days, null) = '{}' and array_remove(durations, null) = '{}';
delete from {{time_log_decades}} where part = 0 and total = 0 and duration = 0;

-- The indexes of filters, one for each attribute, which one index replaces.
do $do$
declare
  old regclass;
begin
  for old in
    select indexrelid from pg_index join pg_class on oid = indexrelid
     where indrelid = '{{time_logs'}}'::regclass and relname like '%time\_logs\_attribute\_%\_idx'
  loop
    execute format('drop index %s', old);
  end loop;
end
$do$;
create index time_logs_attributes_idx on {{time_logs}} using gin (attributes jsonb_path_ops) where attributes is not null;

-- Keys of 0.3 have their logs only if a hook or the schema of attributes changed the values that were
-- sent. The ids of the others are enough, since a retry sends the same values. Version 0.2 took over
-- expired keys without changing the logs.
alter table {{time_log_keys}} alter column replaced type json
  using case when replaced->0->>'id' = time_log_id::text then replaced
             else to_json(coalesce(time_log_ids, array[time_log_id])) end;
alter table {{time_log_keys}} rename column replaced to logs;
alter table {{time_log_keys}} alter column logs set not null, drop column time_log_id, drop column time_log_ids;

-- Names of 0.3. The comment of the function is the secret of stored cursors.
do $do$
begin
  execute format('alter function %s rename to %I', '{{time_log_place_key'}}()',
    (select replace(proname, 'place_key', 'cursor_key') from pg_proc where oid = '{{time_log_place_key'}}()'::regprocedure));
end
$do$;
drop trigger zz_tell_correction on {{time_logs}};
drop trigger tell_deletions on {{time_logs}};
drop trigger tell_new_id on {{time_logs}};
drop trigger tell_truncation on {{time_logs}};

drop function
  {{tell_time_log_correction}}(),
  {{tell_time_log_deletions}}(),
  {{time_log_project_events}}(uuid[], bigint, bigint, uuid, integer, integer),
  {{time_log_sum}}(uuid, date, date),
  {{time_log_sum_of}}(uuid[], date, date),
  {{time_logs_since}}(uuid, date),
  {{time_log_project_sums}}(date, date, bigint, integer),
  {{time_log_project_sums_of}}(uuid[], date, date, bigint, integer),
  {{time_log_period_sums}}(uuid, date, date, text, bigint, integer),
  {{time_log_period_sums_of}}(uuid[], date, date, text, bigint, integer),
  {{time_log_page_v2}}(uuid, date, date, bigint, integer),
  {{time_log_page_of}}(uuid[], date, date, bigint, integer),
  {{time_log_count_differences_v2}}();
