import type { CountNames } from './count-layout.js';
import { COUNTING_AS_BEFORE, COUNTING_DECLARED, COUNTING_ON, literal } from './count-rows.v1.js';
import { addSums, READ_COMMITTED } from './count-rows.v2.js';

/** Beside the numbers of slots, which begin with 0: whoever rebuilds holds it. */
const REBUILD = -1;

/**
 * Returns how many rows had a wrong count or sum. It adds the difference to each of them, so that writers may count on
 * meanwhile. Two rebuilds at once would add the difference twice, and so would a rebuild whose snapshot is older than
 * another's commit: it fails where another rebuild is under way, and under REPEATABLE READ.
 */
export const rebuildTimeLogCountsV2 = (names: CountNames) => `
  create or replace function ${names.rebuild}() returns bigint language plpgsql as $$
  #variable_conflict use_column
  declare
    own_slot integer := 0;
    wrong bigint;
    ${COUNTING_DECLARED}
  begin
    ${READ_COMMITTED}
    if not pg_try_advisory_xact_lock(${literal(names.logs)}::regclass::oid::integer, ${REBUILD}) then
      raise exception 'another rebuild of the counts of time logs is under way: wait for its end'
        using errcode = 'object_in_use';
    end if;
    ${COUNTING_ON}
    ${addSums(names, `select * from ${names.differencesV2}()`)}
    get diagnostics wrong = row_count;
    ${COUNTING_AS_BEFORE}
    return wrong;
  end $$`;

/** Waits for a rebuild that is under way, and lets no other one begin before the transaction ends. */
export const rebuildAlone = ({ logs }: CountNames) =>
  `select pg_advisory_xact_lock(${literal(logs)}::regclass::oid::integer, ${REBUILD})`;
