import { AS_OWNER, type CountNames } from './count-layout.js';
import { add, counted, COUNTING_AS_BEFORE, COUNTING_DECLARED, COUNTING_ON } from './count-rows.v1.js';

/** For a trigger after a statement on logs: adds its changes to the counts. */
export const countTimeLogsV1 = (names: CountNames) => `
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
