import type { MigrationInterface, QueryRunner } from 'typeorm';
import { fullyQualified } from '../../../database/index.js';

/** Days that one row counts one by one, and days that one row of the level above counts together (about 11 years). */
const BLOCK = 32;
const SPAN = 128 * BLOCK;
/** Blocks and spans are numbered from here. */
const FIRST = `date '0001-01-01'`;
const NIL = `uuid '00000000-0000-0000-0000-000000000000'`;
const DAYS = Array.from({ length: BLOCK }, (_, index) => index);
/**
 * Set by our own functions alone, while they write: a row of counts that comes from elsewhere is not taken. Not by SET of
 * the function, for which a parameter with a dot needs a superuser; and what is set for the transaction is set back.
 */
const COUNTING_DECLARED = `counting text := coalesce(current_setting('time_logs.counting', true), '');`;
const COUNTING_ON = `perform set_config('time_logs.counting', 'on', true);`;
const COUNTING_AS_BEFORE = `perform set_config('time_logs.counting', counting, true);`;
/** A function that runs with its owner's rights finds nothing but what it names in full. */
const AS_OWNER = `security definer set search_path = pg_catalog, pg_temp`;

/**
 * Keeps how many logs there are per day, of each project and of all: any total is a sum of a few rows and any page is
 * found by running totals, whatever the size of the table. Triggers on statements keep the counts in the transaction
 * that changes the logs, whoever changes them.
 *
 * A count is the sum over its slots. A transaction writes to a slot that no other holds at the time, so nobody ever
 * waits for a row of counts; as many slots come to be as transactions have written at the same time.
 */
export class CreateTimeLogCounts1763769600000 implements MigrationInterface {
  readonly name = 'CreateTimeLogCounts1763769600000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await namesIn(runner);
    // Writers wait behind a trigger that waits for its lock.
    await runner.query(`set local lock_timeout = '10s'`);
    for (const statement of [
      table,
      guard,
      countFunction,
      changeTriggers,
      truncation,
      differences,
      rebuildFunction,
      since,
      page,
    ]) {
      await runner.query(statement(names));
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = await namesIn(runner);
    for (const name of ['inserted', 'deleted', 'updated_from', 'updated_to', 'truncated']) {
      await runner.query(`drop trigger count_${name} on ${names.logs}`);
    }
    await runner.query(`drop table ${names.counts}`);
    for (const name of [names.guard, names.count, names.forget, names.differences, names.rebuild]) {
      await runner.query(`drop function ${name}`);
    }
    await runner.query(`drop function ${names.since}`);
    await runner.query(`drop function ${names.page}`);
  }
}

/** The functions that write counts, for databases that have them and for those that do not. */
export async function countFunctions(runner: QueryRunner): Promise<string[]> {
  const names = await namesIn(runner);
  return [countFunction(names), rebuildFunction(names)];
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

type Names = Awaited<ReturnType<typeof namesIn>>;

async function namesIn(runner: QueryRunner) {
  const name = (text: string) => fullyQualified(runner, text);
  return {
    logs: await name('time_logs'),
    counts: await name('time_log_counts'),
    guard: await name('refuse_time_log_counts'),
    count: await name('count_time_logs'),
    forget: await name('forget_time_log_counts'),
    differences: await name('time_log_count_differences'),
    rebuild: await name('rebuild_time_log_counts'),
    since: await name('time_logs_since'),
    page: await name('time_log_page'),
  };
}

const table = ({ counts }: Names) => `
  create table ${counts} (
    of_all boolean not null,
    project_id uuid not null,
    width smallint not null,
    first_day date not null,
    slot smallint not null,
    total bigint not null,
    days integer[],
    constraint time_log_counts_pkey primary key (of_all, project_id, width, first_day, slot)
  ) with (fillfactor = 70);
  comment on table ${counts} is 'Kept by triggers of time_logs. A count is the sum over slots.';
  comment on column ${counts}.of_all is 'Counts all projects together; project_id is nil then.';
  comment on column ${counts}.width is 'Days from first_day on: ${BLOCK}, or ${SPAN} without days.';
  comment on column ${counts}.days is 'The count of each day; null for none.'`;

/** A dump of data alone holds counts too, beside the logs whose insertion counts them again. */
const guard = ({ guard, counts }: Names) => `
  create function ${guard}() returns trigger language plpgsql as 'begin return null; end';
  create trigger refuse_counts before insert on ${counts} for each row
    when (current_setting('time_logs.counting', true) is distinct from 'on') execute function ${guard}()`;

/** The counts of logs as rows for the table, from a source of (project_id, date, n). */
const counted = (source: string) => `
  select grouping(project_id) = 1 as of_all, coalesce(project_id, ${NIL}) as project_id,
         case grouping(block) when 0 then ${BLOCK} else ${SPAN} end as width,
         ${FIRST} + coalesce(block * ${BLOCK}, span * ${SPAN}) as first_day,
         sum(n) as total,
         case grouping(block) when 0 then array[
           ${DAYS.map((day) => `sum(n) filter (where day = ${day})`).join()}
         ]::integer[] end as days
    from (select project_id, number / ${BLOCK} as block, number / ${SPAN} as span, number % ${BLOCK} as day, n
            from (select project_id, date - ${FIRST} as number, n from (${source}) source) numbered) placed
   group by grouping sets ((project_id, block), (project_id, span), (block), (span))`;

/** Adds rows to the counts, in a slot that nobody else writes to until the transaction ends. */
const add = ({ logs, counts }: Names, rows: string) => `
  while not pg_try_advisory_xact_lock(${literal(logs)}::regclass::oid::integer, own_slot) loop
    own_slot := own_slot + 1;
  end loop;
  insert into ${counts} as counts (of_all, project_id, width, first_day, slot, total, days)
  select of_all, project_id, width, first_day, own_slot, total, days from (${rows}) added
  on conflict on constraint time_log_counts_pkey do update
     set total = counts.total + excluded.total,
         days = case when excluded.days is not null then array[
           ${DAYS.map((day) => `nullif(coalesce(counts.days[${day + 1}], 0) + coalesce(excluded.days[${day + 1}], 0), 0)`).join()}
         ] end;`;

const countFunction = (names: Names) => `
  create or replace function ${names.count}() returns trigger language plpgsql ${AS_OWNER} as $$
  #variable_conflict use_column
  declare
    own_slot integer := 0;
    ${COUNTING_DECLARED}
  begin
    ${COUNTING_ON}
    ${add(
      names,
      counted(
        `select project_id, date, count(*)::integer * tg_argv[0]::integer as n from changed group by 1, 2`,
      ),
    )}
    ${COUNTING_AS_BEFORE}
    return null;
  end $$`;

const changeTriggers = (names: Names) => `
  ${changeTrigger(names, 'inserted', 'insert', 'new', 1)};
  ${changeTrigger(names, 'deleted', 'delete', 'old', -1)};
  ${changeTrigger(names, 'updated_from', 'update', 'old', -1)};
  ${changeTrigger(names, 'updated_to', 'update', 'new', 1)}`;

const changeTrigger = ({ logs, count }: Names, name: string, event: string, rows: string, sign: number) =>
  `create trigger count_${name} after ${event} on ${logs} referencing ${rows} table as changed
     for each statement execute function ${count}('${sign}')`;

const truncation = ({ logs, counts, forget }: Names) => `
  create function ${forget}() returns trigger language plpgsql ${AS_OWNER} as $$
  begin
    delete from ${counts};
    return null;
  end $$;
  create trigger count_truncated after truncate on ${logs} for each statement execute function ${forget}()`;

/** What must be added to the counts to make them right; empty where they are. One snapshot, whoever writes meanwhile. */
const differences = ({ logs, counts, differences }: Names) => `
  create function ${differences}()
    returns table (of_all boolean, project_id uuid, width integer, first_day date, total bigint, days integer[])
    stable language sql as $$
    select * from (
      select of_all, project_id, width, first_day, sum(sign * total)::bigint as total,
             case when width = ${BLOCK} then array[
               ${DAYS.map((day) => `nullif(sum(sign * days[${day + 1}]), 0)`).join()}
             ]::integer[] end as days
        from (select 1 as sign, * from (
                ${counted(`select project_id, date, count(*)::integer as n from ${logs} group by 1, 2`)}) found
              union all
              select -1, of_all, project_id, width, first_day, total, days from ${counts}) compared
       group by of_all, project_id, width, first_day) summed
     where total <> 0 or array_remove(days, null) <> '{}'
  $$`;

/** Returns how many counts were wrong. What is added stays right whatever is written meanwhile, since writers add too. */
const rebuildFunction = (names: Names) => `
  create or replace function ${names.rebuild}() returns bigint language plpgsql as $$
  #variable_conflict use_column
  declare
    own_slot integer := 0;
    wrong bigint;
    ${COUNTING_DECLARED}
  begin
    ${COUNTING_ON}
    ${add(names, `select * from ${names.differences}()`)}
    get diagnostics wrong = row_count;
    ${COUNTING_AS_BEFORE}
    return wrong;
  end $$`;

/** Those of one project, or of all where it is null. */
const KEY = `of_all = (project is null) and project_id = coalesce(project, ${NIL})`;

/** How many logs there are on a day and later. */
const since = ({ counts, since }: Names) => `
  create function ${since}(project uuid, day date) returns bigint stable language plpgsql as $$
  declare
    number integer := day - ${FIRST};
    block date := ${FIRST} + number / ${BLOCK} * ${BLOCK};
    span date := ${FIRST} + number / ${SPAN} * ${SPAN};
  begin
    return (select coalesce(sum(total), 0) from ${counts} where ${KEY} and width = ${SPAN} and first_day > span)
         + (select coalesce(sum(case when first_day > block then total
                                     else (select sum(n) from unnest(days[number % ${BLOCK} + 1:]) n) end), 0)
              from ${counts}
             where ${KEY} and width = ${BLOCK} and first_day >= block and first_day < span + ${SPAN});
  end $$`;

/** Planned once a session, and always along an index: what a list costs must not depend on statistics that are stale or missing. */
const ALONG_INDEXES = `set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off`;

/**
 * A row with the total of a period (null: open) and nothing else, then the logs of the page that begins after \`skipped\`
 * logs, newest first. STABLE: all of it sees what the statement sees that calls it.
 */
const page = ({ logs, counts, since, page }: Names) => `
  create function ${page}(project uuid, first_day date, last_day date, skipped bigint, page_limit integer)
    returns table (total bigint, id uuid, project_id uuid, duration numeric, description text, date text)
    stable language plpgsql ${ALONG_INDEXES} set datestyle = 'ISO' as $$
  #variable_conflict use_column
  declare
    newer bigint := case when last_day is null then 0 else ${since}(project, last_day + 1) end;
    -- How many logs are newer than the first of the page: within all days, then within one span, one block, one day.
    rank bigint := newer + skipped;
    bucket record;
    start_date date := coalesce(last_day, 'infinity');
    start_id uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  begin
    total := ${since}(project, coalesce(first_day, ${FIRST})) - newer;
    return next;
    if skipped >= total then
      return;
    end if;
    total := null;
    if skipped > 0 then
      for bucket in
        select counts.first_day, sum(counts.total) as n from ${counts} counts
         where ${KEY} and width = ${SPAN} group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
      for bucket in
        select counts.first_day, sum(counts.total) as n from ${counts} counts
         where ${KEY} and width = ${BLOCK}
           and counts.first_day >= bucket.first_day and counts.first_day < bucket.first_day + ${SPAN}
         group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
      for bucket in
        select counts.first_day + day::integer - 1 as date, sum(n) as n
          from ${counts} counts cross join unnest(days) with ordinality as numbered (n, day)
         where ${KEY} and width = ${BLOCK} and counts.first_day = bucket.first_day and n is not null
         group by 1 order by 1 desc
      loop
        exit when rank < bucket.n;
        rank := rank - bucket.n;
      end loop;
    end if;
    if project is null then
      if skipped > 0 then
        select log.date, log.id into start_date, start_id from ${logs} log
         where log.date = bucket.date order by log.id desc offset rank limit 1;
      end if;
      return query
        select null::bigint, log.id, log.project_id, log.duration, log.description, log.date::text from ${logs} log
         where (log.date, log.id) <= (start_date, start_id) and log.date >= coalesce(first_day, '-infinity')
         order by log.date desc, log.id desc limit page_limit;
    else
      if skipped > 0 then
        select log.date, log.id into start_date, start_id from ${logs} log
         where log.project_id = project and log.date = bucket.date order by log.id desc offset rank limit 1;
      end if;
      return query
        select null::bigint, log.id, log.project_id, log.duration, log.description, log.date::text from ${logs} log
         where log.project_id = project
           and (log.date, log.id) <= (start_date, start_id) and log.date >= coalesce(first_day, '-infinity')
         order by log.date desc, log.id desc limit page_limit;
    end if;
  end $$`;
