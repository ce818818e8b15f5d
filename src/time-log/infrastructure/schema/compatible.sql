-- Functions that instances of version 0.2 call during a rolling update. Version 0.4 drops
-- them.

create or replace function {{time_log_sum}}(project uuid, oldest date, newest date) returns table (n bigint, duration numeric)
  stable language sql as $$ select * from {{sum_time_logs}}(case when project is not null then array[project] end, oldest, newest) $$;
create or replace function {{time_log_sum_of}}(projects uuid[], oldest date, newest date) returns table (n bigint, duration numeric)
  stable language sql as $$ select * from {{sum_time_logs}}(projects, oldest, newest) $$;
create or replace function {{time_logs_since}}(project uuid, day date) returns bigint
  stable language sql as $$ select n from {{sum_time_logs}}(case when project is not null then array[project] end, day, null) $$;
create or replace function {{time_log_project_sums}}(oldest date, newest date, skipped bigint, page_limit integer)
  returns table (n bigint, duration numeric, groups bigint, project_id uuid)
  stable language sql as $$ select * from {{page_time_log_project_sums}}(null, oldest, newest, skipped, page_limit) $$;
create or replace function {{time_log_project_sums_of}}(projects uuid[], oldest date, newest date, skipped bigint, page_limit integer)
  returns table (n bigint, duration numeric, groups bigint, project_id uuid)
  stable language sql as $$ select * from {{page_time_log_project_sums}}(projects, oldest, newest, skipped, page_limit) $$;
create or replace function {{time_log_period_sums}}(project uuid, oldest date, newest date, grouping_by text, skipped bigint, page_limit integer)
  returns table (n bigint, duration numeric, groups bigint, first_day date, last_day date) stable language sql as $$
  select n, duration, groups, first_day, last_day from {{page_time_log_group_sums}}(case when project is not null then array[project] end, oldest, newest, grouping_by, skipped, page_limit) $$;
create or replace function {{time_log_period_sums_of}}(projects uuid[], oldest date, newest date, grouping_by text, skipped bigint, page_limit integer)
  returns table (n bigint, duration numeric, groups bigint, first_day date, last_day date) stable language sql as $$
  select n, duration, groups, first_day, last_day from {{page_time_log_group_sums}}(projects, oldest, newest, grouping_by, skipped, page_limit) $$;
create or replace function {{time_log_page_v2}}(project uuid, first_day date, last_day date, skipped bigint, page_limit integer)
  returns table (total bigint, log {{time_logs}}) stable language sql as $$
  select * from {{page_time_logs}}(case when project is not null then array[project] end, first_day, last_day, skipped, page_limit) $$;
create or replace function {{time_log_page_of}}(projects uuid[], first_day date, last_day date, skipped bigint, page_limit integer)
  returns table (total bigint, log {{time_logs}}) stable language sql as $$
  select * from {{page_time_logs}}(projects, first_day, last_day, skipped, page_limit) $$;
create or replace function {{time_log_count_differences_v2}}()
  returns table (of_all boolean, project_id uuid, width integer, first_day date,
                 total bigint, duration numeric, days integer[], durations numeric[]) stable language sql as $$
  select of_all, project_id, 0, coalesce(month, decade), total, duration, days, durations from {{time_log_count_faults}}() $$;
