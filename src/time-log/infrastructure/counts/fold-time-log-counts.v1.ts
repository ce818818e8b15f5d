import { AS_OWNER, type CountNames } from './count-layout.js';
import { COUNTING_AS_BEFORE, COUNTING_DECLARED, COUNTING_ON, literal, takeSlot } from './count-rows.v1.js';
import { addSumsToSlot } from './count-rows.v2.js';

/**
 * Adds a limited number of rows of later slots to an earlier one, and returns how many. Fewer than the limit: all is
 * done. Every sum stays the same, in every snapshot. Nobody waits: writers take another slot meanwhile, and a slot that
 * a transaction holds is skipped. It must not run beside TRUNCATE, which would not see what it moves. Anybody may call
 * it: it changes no count, and the role of a service that owns nothing needs it.
 */
export const foldTimeLogCountsV1 = (names: CountNames) => `
  create function ${names.fold}(most integer) returns integer language plpgsql ${AS_OWNER}
    set enable_seqscan = off set enable_bitmapscan = off as $$
  #variable_conflict use_column
  declare
    own_slot integer := 0;
    source integer := 32768;
    folded integer := 0;
    moved integer;
    ${COUNTING_DECLARED}
  begin
    begin
      lock table ${names.logs} in access share mode nowait;
    exception when lock_not_available then
      return 0;
    end;
    ${takeSlot(names)}
    ${COUNTING_ON}
    loop
      select max(slot) into source from ${names.counts} where slot > 0 and slot > own_slot and slot < source;
      exit when source is null or folded >= most;
      continue when not pg_try_advisory_xact_lock(${literal(names.logs)}::regclass::oid::integer, source);
      with moved as (
        delete from ${names.counts} where ctid = any (array(
          select ctid from ${names.counts} where slot > 0 and slot = source limit most - folded)) returning *
      )
      ${addSumsToSlot(names, 'select * from moved')}
      get diagnostics moved = row_count;
      folded := folded + moved;
    end loop;
    ${COUNTING_AS_BEFORE}
    return folded;
  end $$`;
