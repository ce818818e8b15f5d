import { TIME_LOG_COLUMNS } from '../../time-log/infrastructure/time-log.mapping.js';
import { VALUE_NAMES } from '../../time-log/domain/time-log.js';
import { CSV_COLUMNS, type ExportFormat } from '../domain/export-format.js';

type Field = keyof typeof TIME_LOG_COLUMNS;
type ColumnType = (typeof TIME_LOG_COLUMNS)[Field]['type'];

/** A separator that neither JSON nor an escaped text contains. */
export const SEPARATOR = '\x01';
/** Makes COPY write texts as they are: no text contains the quote. */
const RAW = `delimiter E'\\x01', quote E'\\x02'`;

/** The first id whose time in microseconds is not exact in a double, and the first of year 10000. */
const [INEXACT_ID, FIVE_DIGITS_ID] = [
  '08312600-0000-0000-0000-000000000000',
  'e677d21f-dc00-0000-0000-000000000000',
];
const milliseconds = `('x' || encode(substr(uuid_send(id), 1, 6), 'hex'))::bit(48)::bigint`;
const isoTime = (time: string) => `to_char(${time}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
/** SQL for `createdAt`, in the form of `isoText`. */
const CREATED_AT = `case
  when id < '${INEXACT_ID}' then ${isoTime(`timestamp '1970-01-01' + ${milliseconds} * interval '1 millisecond'`)}
  else case when id < '${FIVE_DIGITS_ID}' then '' else '+0' end || ${isoTime(
    `date '1970-01-01' + (${milliseconds} / 86400000)::integer + ${milliseconds} % 86400000 * interval '1 millisecond'`,
  )} end`;

const digitsOf = (number: string) => `trim(both '0' from replace(trim_scale(${number})::text, '.', ''))`;
/**
 * Returns SQL for the text of a number as JavaScript writes it. PostgreSQL writes the nearest double of a usual number
 * in the same way. Other numbers have the digits that PostgreSQL writes for this double, or the stored ones if they are
 * fewer, in the form of JavaScript.
 */
const numberText = (column: string) => `case
  when ${column} between 0.0001 and 999999999999999 then ${column}::double precision::text
  else (
    select case
      when value >= 0.000001 and value < 1e21 then text
      else left(digits, 1) || case when length(digits) > 1 then '.' || substr(digits, 2) else '' end ||
        case when value >= 1 then 'e+' || length(split_part(text, '.', 1)) - 1
             else 'e-' || length(fraction) - length(ltrim(fraction, '0')) + 1 end
      end
      from (select value, trim_scale(value)::text as text, ${digitsOf('value')} as digits,
                   split_part(value::text, '.', 2) as fraction
              from (select case when length(${digitsOf('decimal')}) < length(${digitsOf('shortest')})
                                then decimal else shortest end as value
                      from (select decimal, decimal::double precision::text::numeric as shortest
                              from (select least(greatest(${column}, 5e-324), 1.7976931348623157e308) as decimal) bounded
                           ) doubles
                   ) chosen
           ) written)
  end`;

const inQuotes = (column: string) => `'"', ${column}, '"'`;
/** The arguments of `concat` that make the JSON of a column, by its type. */
const JSON_TEXTS: Readonly<Record<ColumnType, (column: string) => string>> = {
  uuid: inQuotes,
  numeric: numberText,
  text: (column) => `to_json(${column})`,
  date: inQuotes,
  jsonb: (column) => `${column}::text`,
};

function columnOf(field: Field): { readonly name: string; readonly type: ColumnType } {
  const { name = field, type }: { readonly name?: string; readonly type: ColumnType } =
    TIME_LOG_COLUMNS[field];
  return { name, type };
}

function textOf(field: (typeof CSV_COLUMNS)[number]): string {
  if (field === 'createdAt') return CREATED_AT;
  const { name, type } = columnOf(field);
  return type === 'numeric' ? numberText(name) : name;
}

/** Returns SQL that quotes a text as COPY does. */
const quoted = (text: string) =>
  `case when ${text} = '' or ${text} ~ '[",\\r\\n]' then '"' || replace(${text}, '"', '""') || '"' else ${text} end`;

/** The select list and the options of COPY for a format. */
interface Layout {
  readonly list: string;
  readonly options: string;
}

/**
 * Returns the layout of an export. With attributes, a row is a JSON value, a separator and the attributes as JSON of
 * PostgreSQL; for NDJSON another separator and the rest of the object follow.
 */
export function layoutOf(format: ExportFormat, haveAttributes: boolean): Layout {
  if (format === 'csv' && !haveAttributes) {
    const list = CSV_COLUMNS.map((field) => `${textOf(field)} as "${field}"`).join(', ');
    return { list, options: 'format csv, header' };
  }
  if (format === 'csv') {
    const values = CSV_COLUMNS.map((field) =>
      field !== 'createdAt' && columnOf(field).type === 'text' ? quoted(textOf(field)) : textOf(field),
    );
    return {
      list: `to_json(concat_ws(',', ${values.join(', ')})), attributes::text`,
      options: `format csv, ${RAW}`,
    };
  }
  const members = VALUE_NAMES.filter((field) => field !== 'attributes').map((field) => {
    const { name, type } = columnOf(field);
    return `',"${field}":', ${JSON_TEXTS[type](name)}`;
  });
  const start = `'{"id":"', id, '"', ${members.join(', ')}`;
  const end = `',"createdAt":"', ${CREATED_AT}, '"}'`;
  const list = haveAttributes
    ? `concat(${start}), attributes::text, concat(${end})`
    : `concat(${start}, ${end})`;
  return { list, options: `format csv, ${RAW}` };
}

/**
 * Returns the rows in their order, which indexes have: those of each project are merged. Null means all projects.
 * `limits` is a condition on `log`.
 */
export function orderedRows(
  table: string,
  list: string,
  projects: readonly string[] | null,
  limits: string,
): string {
  const rows = (condition: string) => `select * from ${table} log where ${condition} and ${limits}`;
  const source =
    projects === null
      ? rows('true')
      : projects.length === 0
        ? rows('false')
        : projects.map((project) => `(${rows(`project_id = ${project}::uuid`)})`).join(' union all ');
  return `select ${list} from (${source}) log order by date, id`;
}
