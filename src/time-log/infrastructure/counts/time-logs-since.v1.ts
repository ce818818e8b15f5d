import { BLOCK, type CountNames, FIRST, KEY, SPAN } from './count-layout.js';

/** How many logs there are on a day and later. */
export const timeLogsSinceV1 = ({ counts, since }: CountNames) => `
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
