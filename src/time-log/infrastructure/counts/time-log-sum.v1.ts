import { type CountNames, KEY, KEY_OF_SEVERAL } from './count-layout.js';
import { ALONG_THE_KEY, inPeriod, PARTS_DECLARED } from './sum-rows.v1.js';

const sumOf = (names: CountNames, name: string, whose: string, key: string) => `
  create function ${name}(${whose}, oldest date, newest date) returns table (n bigint, duration numeric)
    stable language plpgsql ${ALONG_THE_KEY} as $$
  #variable_conflict use_column
  declare ${PARTS_DECLARED}
  begin
    return query
      select coalesce(sum(n), 0)::bigint, coalesce(sum(duration), 0) from (${inPeriod(names, key)}) parts;
  end $$`;

/** How many logs a period has (null: open), and the sum of their durations: of one project, or of all. */
export const timeLogSumV1 = (names: CountNames) => sumOf(names, names.sum, 'project uuid', KEY);

/** The same of some projects. */
export const timeLogSumOfV1 = (names: CountNames) =>
  sumOf(names, names.sumOf, 'projects uuid[]', KEY_OF_SEVERAL);
