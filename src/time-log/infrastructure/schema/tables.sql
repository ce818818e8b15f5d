-- The tables of time logs. The domain explains the columns; comments here explain those that only
-- SQL uses.

create table {{time_logs}} (
  id uuid not null constraint time_logs_pkey primary key,
  project_id uuid not null,
  duration numeric not null,
  description text not null,
  date date not null,
  -- The position in the feed.
  "position" bigint not null default ((pg_current_xact_id())::text)::bigint,
  corrected_at timestamptz(3),
  attributes jsonb,
  constraint time_logs_id_is_uuidv7 check (substr(id::text, 15, 1) = '7'),
  constraint time_logs_duration_is_positive check (duration > 0 and duration < 'Infinity'),
  constraint time_logs_description_is_short check (char_length(description) <= 5000),
  constraint time_logs_date_has_four_digit_year check (date between '0001-01-01' and '9999-12-31')
);
-- Not valid, so that a backup with rows of older versions can be restored.
alter table {{time_logs}} add constraint time_logs_duration_is_within_double
  check (duration between 5e-324 and 1.7976931348623157e308) not valid;
create index time_logs_project_id_date_id_idx on {{time_logs}} (project_id, date, id);
create index time_logs_date_id_idx on {{time_logs}} (date, id);
create index time_logs_position_id_idx on {{time_logs}} ("position", id);
-- For filters by attributes, and callers that are bound to them.
create index time_logs_attributes_idx on {{time_logs}} using gin (attributes jsonb_path_ops) where attributes is not null;

create table {{time_log_keys}} (
  principal text not null,
  text text not null,
  fingerprint bytea not null,
  created_at timestamptz(3) not null default now(),
  -- Its logs as they were answered, in order; ids alone are of version 0.3. Not jsonb, which
  -- reorders attributes.
  logs json not null,
  constraint time_log_keys_pkey primary key (principal, text)
);
create index time_log_keys_created_at_idx on {{time_log_keys}} (created_at);

-- Deleted logs, for the feed. The row without a project is the truncation mark: earlier deletions
-- are unknown.
create table {{time_log_deletions}} (
  "position" bigint not null,
  id uuid not null,
  project_id uuid,
  deleted_at timestamptz(3) not null,
  constraint time_log_deletions_pkey primary key ("position", id)
);
create index time_log_deletions_mark_idx on {{time_log_deletions}} ("position", id) where project_id is null;

-- A row for each project that a log has left. Readers of that project get it as a deletion.
create table {{time_log_departures}} (
  "position" bigint not null,
  id uuid not null,
  project_id uuid not null,
  left_at timestamptz(3) not null,
  constraint time_log_departures_pkey primary key ("position", id, project_id)
);
