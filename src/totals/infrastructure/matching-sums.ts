import type { AttributeType } from '../../time-log/domain/attribute-rules.js';
import type { PageRequest, Period } from '../../time-log/domain/time-log-query.js';
import type { MatchingLogs } from '../../time-log/infrastructure/time-log-conditions.js';
import type { GroupedAttribute, Grouping } from '../domain/totals.js';

/** The first and the last day of the period of `date`. Weeks start on Monday, and 0001-01-01 was a Monday. */
const DAYS: Readonly<Record<string, readonly [first: string, last: string]>> = {
  day: ['date', 'first_day'],
  week: [`date - (date - date '0001-01-01') % 7`, 'first_day + 6'],
  month: [`date_trunc('month', date::timestamp)::date`, `(first_day + interval '1 month')::date - 1`],
};

/** The SQL of the values of an attribute that a filter can have, by its type; null for others. */
const VALUES: Readonly<Record<AttributeType, (json: string) => string>> = {
  string: (json) =>
    ifOfType(json, 'string', `case when char_length(${json} #>> '{}') <= 255 then ${json} #>> '{}' end`),
  number: (json) => ifOfType(json, 'number', exactNumber(`(${json} #>> '{}')::numeric`)),
  integer: (json) => {
    const number = `(${json} #>> '{}')::numeric`;
    return ifOfType(json, 'number', `case when ${number} = trunc(${number}) then ${exactNumber(number)} end`);
  },
  boolean: (json) => ifOfType(json, 'boolean', `(${json} #>> '{}')::boolean`),
  strings: (json) => VALUES.string(json),
};

const ifOfType = (json: string, type: string, value: string) =>
  `case when jsonb_typeof(${json}) = '${type}' then ${value} end`;

/** Returns the SQL of a number that a filter can have: a double, at most 2^53 - 1 in magnitude. */
const exactNumber = (number: string) =>
  `case when ${number} = 0 then 0 when abs(${number}) between 5e-324 and 9007199254740991 then
     case when (${number})::float8::text::numeric = ${number} then trim_scale(${number}) end end`;

/** Returns the source of the logs to group, and the SQL of the value of a log. An array has a row for each text. */
function valuesOf(
  table: string,
  bind: MatchingLogs['bind'],
  attribute: GroupedAttribute | undefined,
): [string, string] {
  if (attribute === undefined) return [`${table} log`, 'null::text'];
  const json = `(log.attributes -> ${bind(attribute.name)}::text)`;
  if (attribute.type !== 'strings') return [`${table} log`, VALUES[attribute.type](json)];
  const items = ifOfType(json, 'array', json);
  return [
    `${table} log left join lateral (select distinct ${VALUES.strings('item')} as text
       from jsonb_array_elements(${items}) item) texts on texts.text is not null`,
    'texts.text',
  ];
}

/**
 * Returns SQL that adds up logs, with rows like those of the sums by month: first the sum of all logs, then the groups
 * of a page, with the JSON of their value.
 */
export function matchingSums(
  table: string,
  { condition, bind }: MatchingLogs,
  { from = '0001-01-01', to = '9999-12-31' }: Period,
  grouping: Grouping | undefined,
  { offset, limit }: PageRequest,
  attribute?: GroupedAttribute,
): string {
  const [key, period = key] = grouping?.split(',') ?? [];
  const [first, last] = DAYS[period ?? ''] ?? ['null::date', 'null::date'];
  const [source, value] = valuesOf(table, bind, attribute);
  // Groups without a period have no days, which stay null.
  const limited = (limit: 'greatest' | 'least', day: string, bound: string) =>
    `to_json(case when first_day is not null then ${limit}(${day}, ${bind(bound)}::date) end)::text`;
  const isText = attribute?.type === 'string' || attribute?.type === 'strings';
  const order = [
    'value is null',
    ...(grouping === key && DAYS[period ?? ''] === undefined ? ['sums.duration desc'] : []),
    `value${isText ? ' collate "C"' : ''}, sums.project_id, sums.first_day desc`,
  ];
  // A log with several texts is in several groups.
  const whole =
    attribute?.type === 'strings'
      ? `(select count(*) as n, sum(duration) as duration from ${table} log where ${condition})`
      : '(select sum(n) as n, sum(duration) as duration from sums)';
  return `with sums as materialized (
            select ${key === 'project' ? 'project_id' : 'null::uuid'} as project_id, ${value} as value,
                   ${first} as first_day, count(*) as n, sum(duration) as duration
              from ${source} where ${condition} group by 1, 2, 3
          )
          (select coalesce(n, 0)::text, trim_scale(coalesce(duration, 0))::text,
                  ${grouping ? '(select count(*) from sums)' : '0'}::text, null::text, null::text, null::text, null::text
             from ${whole} whole)
          union all
          (select n::text, trim_scale(duration)::text, null, project_id::text,
                  ${limited('greatest', 'first_day', from)}, ${limited('least', last, to)}, to_json(value)::text
             from sums order by ${order.join(', ')}
           offset ${bind(String(offset))} limit ${bind(String(grouping ? limit : 0))})`;
}
