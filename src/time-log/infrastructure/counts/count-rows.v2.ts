import { BLOCK, type CountNames, DAYS, FIRST, NIL, SPAN } from './count-layout.js';
import { takeSlot } from './count-rows.v1.js';

// Parts of version 2 of the functions that count, beside those of version 1: they sum durations too.

/** Refuses to go on where a statement would not see what others have committed since the transaction began. */
export const READ_COMMITTED = `
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
      raise exception 'the counts of time logs would go wrong: set transaction isolation level read committed first'
        using errcode = 'invalid_transaction_state';
    end if;`;

/** The sums of a column by the days of a block, null for days without. */
export const eachDay = (column: string) => `array[
             ${DAYS.map((day) => `sum(${column}) filter (where day = ${day})`).join()}
           ]`;

/** The counts and sums of logs as rows for the table, from a source of (project_id, date, n, duration). */
export const summed = (source: string) => `
  select grouping(project_id) = 1 as of_all, coalesce(project_id, ${NIL}) as project_id,
         case grouping(block) when 0 then ${BLOCK} else ${SPAN} end as width,
         ${FIRST} + coalesce(block * ${BLOCK}, span * ${SPAN}) as first_day,
         sum(n) as total, sum(duration) as duration,
         case grouping(block) when 0 then ${eachDay('n')}::integer[] end as days,
         case grouping(block) when 0 then ${eachDay('duration')} end as durations
    from (select project_id, number / ${BLOCK} as block, number / ${SPAN} as span, number % ${BLOCK} as day, n, duration
            from (select project_id, date - ${FIRST} as number, n, duration from (${source}) source) numbered) placed
   group by grouping sets ((project_id, block), (project_id, span), (block), (span))`;

/** Begins an insert of rows into the slot that was taken. */
export const intoSlot = ({ counts }: CountNames) =>
  `insert into ${counts} as counts (of_all, project_id, width, first_day, slot, total, duration, days, durations)`;

/** Ends such an insert: what is in the slot already is added to. */
export const orAdd = `on conflict on constraint time_log_counts_pkey do update
     set total = counts.total + excluded.total, duration = counts.duration + excluded.duration`;

/** The days of the table and of what is added, one by one; a missing end is as days without logs. */
const added = (column: string) =>
  `(select array_agg(nullif(coalesce(was, 0) + coalesce(more, 0), 0))
                   from unnest(counts.${column}, excluded.${column}) as days (was, more))`;
export const andAllDays = `,
         days = ${added('days')},
         durations = ${added('durations')}`;

/** Adds rows to counts and sums, in the slot that was taken. */
export const addSumsToSlot = (names: CountNames, rows: string) => `
  ${intoSlot(names)}
  select of_all, project_id, width, first_day, own_slot, total, duration, days, durations from (${rows}) added
  ${orAdd}${andAllDays};`;

export const addSums = (names: CountNames, rows: string) => takeSlot(names) + addSumsToSlot(names, rows);
