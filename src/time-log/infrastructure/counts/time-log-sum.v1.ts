import { type CountNames, KEY } from './count-layout.js';
import { ALONG_THE_KEY, inPeriod, PARTS_DECLARED } from './sum-rows.v1.js';

/** How many logs a period has (null: open), and the sum of their durations. */
export const timeLogSumV1 = (names: CountNames) => `
  create function ${names.sum}(project uuid, oldest date, newest date) returns table (n bigint, duration numeric)
    stable language plpgsql ${ALONG_THE_KEY} as $$
  #variable_conflict use_column
  declare ${PARTS_DECLARED}
  begin
    return query
      select coalesce(sum(n), 0)::bigint, coalesce(sum(duration), 0) from (${inPeriod(names, KEY)}) parts;
  end $$`;
