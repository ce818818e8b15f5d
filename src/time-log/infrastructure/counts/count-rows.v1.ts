import { BLOCK, type CountNames, DAYS, FIRST, NIL, SPAN } from './count-layout.js';

// Parts of version 1 of the functions that count.

/**
 * A setting that only our own functions turn on, while they write counts: the guard refuses rows of counts from anybody
 * else. A function's SET clause could not do it, since a parameter with a dot in its name needs a superuser there. The
 * setting holds for the transaction, so each function puts back the value that it has found.
 */
export const COUNTING_DECLARED = `counting text := coalesce(current_setting('time_logs.counting', true), '');`;
export const COUNTING_ON = `perform set_config('time_logs.counting', 'on', true);`;
export const COUNTING_AS_BEFORE = `perform set_config('time_logs.counting', counting, true);`;

/** The counts of logs as rows for the table, from a source of (project_id, date, n). */
export const counted = (source: string) => `
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

export const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Takes a slot that nobody else writes to until the transaction ends. */
export const takeSlot = ({ logs }: CountNames) => `
  while not pg_try_advisory_xact_lock(${literal(logs)}::regclass::oid::integer, own_slot) loop
    own_slot := own_slot + 1;
  end loop;`;

/** Adds rows to the counts, in the slot that was taken. */
const addToSlot = ({ counts }: CountNames, rows: string) => `
  insert into ${counts} as counts (of_all, project_id, width, first_day, slot, total, days)
  select of_all, project_id, width, first_day, own_slot, total, days from (${rows}) added
  on conflict on constraint time_log_counts_pkey do update
     set total = counts.total + excluded.total,
         days = case when excluded.days is not null then array[
           ${DAYS.map((day) => `nullif(coalesce(counts.days[${day + 1}], 0) + coalesce(excluded.days[${day + 1}], 0), 0)`).join()}
         ] end;`;

export const add = (names: CountNames, rows: string) => takeSlot(names) + addToSlot(names, rows);
