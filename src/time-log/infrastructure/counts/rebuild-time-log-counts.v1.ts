import type { CountNames } from './count-layout.js';
import { add, COUNTING_AS_BEFORE, COUNTING_DECLARED, COUNTING_ON } from './count-rows.v1.js';

/**
 * Returns how many counts were wrong. What is added stays right whatever is written meanwhile, since writers add too.
 */
export const rebuildTimeLogCountsV1 = (names: CountNames) => `
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
