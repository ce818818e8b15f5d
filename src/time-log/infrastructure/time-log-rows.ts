import { type StoredTimeLog, TimeLog } from '../domain/time-log.js';
import { LISTED_FIELDS } from '../domain/time-log-item.js';
import { COLUMN_JSON, TIME_LOG_COLUMNS } from './time-log.mapping.js';

/** A row that begins with the columns of a log, in the order of the mapping. */
export type TimeLogRow = readonly string[];

const asItIs = (value: unknown) => value;

const COLUMNS = (Object.keys(TIME_LOG_COLUMNS) as (keyof StoredTimeLog)[]).map((field) => {
  const { name = field, type, transformer }: Column = TIME_LOG_COLUMNS[field];
  return { field, name, type, to: transformer?.to ?? asItIs, from: transformer?.from ?? asItIs };
});

interface Column {
  readonly name?: string;
  readonly type: keyof typeof COLUMN_JSON;
  readonly transformer?: { readonly to: (value: never) => string; readonly from: (text: string) => unknown };
}

/** The names of the columns, as a list of SQL. */
export const TIME_LOG_COLUMN_NAMES = COLUMNS.map(({ name }) => name).join(', ');

/** The parameters of a statement that writes logs, for `unnest`: from `$1` on, one for each column. */
export const TIME_LOG_ARRAYS = COLUMNS.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ');

/** The number of the next free parameter. */
export const NEXT_PARAMETER = COLUMNS.length + 1;

/** The values of those parameters. */
export function timeLogArrays(logs: readonly TimeLog[]): unknown[][] {
  return COLUMNS.map(({ field, to }) => logs.map((log) => to(log[field] as never)));
}

/** What `timeLogOf` needs of a log that a statement knows by this name. */
export function timeLogSelection(log: string): string {
  return COLUMNS.map(({ name, type }) => {
    const column = `(${log}).${name}`;
    // JSON has one form for a date. As text its form depends on a setting, and as a date the driver makes it an
    // instant.
    return type === 'date' ? `to_json(${column}) as ${name}` : column;
  }).join(', ');
}

/** The log of a row. */
export function timeLogOf(row: TimeLogRow): TimeLog {
  const log = TimeLog.blank();
  const values: Partial<Record<string, unknown>> = log as object;
  COLUMNS.forEach(({ field, from }, index) => {
    values[field] = from(row[index]!);
  });
  return log;
}

/** A row that begins with an id, and JSON members of the listed values and of the others. */
export type TimeLogItemRow = readonly [id: string, listed: string, others: string, ...more: unknown[]];

/**
 * What such a row has of a log that a statement knows by this name. PostgreSQL writes JSON in little more time than the
 * values; here they would be parsed, kept and written again.
 */
export function timeLogItemSelection(log: string): string {
  const isListed = ({ field }: (typeof COLUMNS)[number]) => LISTED_FIELDS.some((name) => name === field);
  const values = COLUMNS.filter(({ field }) => field !== 'id');
  const listed = membersOf(log, values.filter(isListed));
  return `(${log}).id, ${listed}, ${membersOf(
    log,
    values.filter((column) => !isListed(column)),
  )}`;
}

function membersOf(
  log: string,
  columns: readonly { field: string; name: string; type: Column['type'] }[],
): string {
  let before = '';
  const members = columns.map(({ field, name, type }) => {
    const { quote, of } = COLUMN_JSON[type];
    const member = `'${before}"${field}":${quote}' || ${of(`(${log}).${name}`)}`;
    before = `${quote},`;
    return member;
  });
  return `${members.join(' || ')} || '${before.slice(0, -1)}'`;
}

/** The log of such a row. */
export function timeLogOfItem([id, listed, others]: TimeLogItemRow): TimeLog {
  return Object.assign(TimeLog.blank(), { id }, JSON.parse(`{${listed},${others}}`) as object);
}
