import { BLOCK, type CountNames, FIRST, KEY, SPAN } from './count-layout.js';

const blockOf = (number: string) => `${FIRST} + ${number} / ${BLOCK} * ${BLOCK}`;
const restOf = (number: string) =>
  `(select coalesce(sum(n), 0) from unnest(days[${number} % ${BLOCK} + 1:]) n)`;

/**
 * How many logs there are in a period (null: open). Of a period in one span it reads the blocks of the period. The
 * difference of two sums would read all later blocks, twice.
 */
export const timeLogsBetweenV1 = ({ counts, since, between }: CountNames) => `
  create function ${between}(project uuid, oldest date, newest date) returns bigint stable language plpgsql as $$
  declare
    first integer := oldest - ${FIRST};
    beyond integer := newest + 1 - ${FIRST};
  begin
    if oldest is null and newest is null then
      return (select coalesce(sum(total), 0) from ${counts} where ${KEY} and width = ${SPAN});
    end if;
    if first / ${SPAN} = beyond / ${SPAN} then
      return (select coalesce(sum(case first_day when ${blockOf('first')} then ${restOf('first')} else total end
                                - case first_day when ${blockOf('beyond')} then ${restOf('beyond')} else 0 end), 0)
                from ${counts}
               where ${KEY} and width = ${BLOCK} and first_day between ${blockOf('first')} and ${blockOf('beyond')});
    end if;
    return ${since}(project, coalesce(oldest, ${FIRST}))
         - case when newest is null then 0 else ${since}(project, newest + 1) end;
  end $$`;
