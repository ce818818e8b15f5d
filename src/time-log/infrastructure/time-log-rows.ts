import { type StoredTimeLog, TimeLog } from '../domain/time-log.js';
import { itemJson, LISTED_FIELDS } from '../domain/time-log-item.js';
import { COLUMN_JSON, TIME_LOG_COLUMNS } from './time-log.mapping.js';

/** A row that begins with the columns of a log in JSON (`COLUMN_JSON`), in the order of the mapping. */
export type TimeLogRow = readonly string[];

const asItIs = (value: unknown) => value;

interface Column {
  readonly name?: string;
  readonly type: keyof typeof COLUMN_JSON;
  readonly transformer?: { readonly to: (value: never) => string };
}

const COLUMNS = (Object.keys(TIME_LOG_COLUMNS) as (keyof StoredTimeLog)[]).map((field) => {
  const { name = field, type, transformer }: Column = TIME_LOG_COLUMNS[field];
  return { field, name, type, to: transformer?.to ?? asItIs, json: COLUMN_JSON[type] };
});

const ID = COLUMNS.findIndex(({ field }) => field === 'id');
/** Where a row has the listed values, and what stands around each in an item. */
const LISTED = LISTED_FIELDS.map((name, number) => {
  const index = COLUMNS.findIndex(({ field }) => field === name);
  const { quote } = COLUMNS[index]!.json;
  return { index, before: `${number === 0 ? '' : ','}"${name}":${quote}`, after: quote };
});

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

/** What a row begins with, of a log that a statement knows by this name. */
export function timeLogSelection(log: string): string {
  return COLUMNS.map(({ name, json }) => json.of(`(${log}).${name}`)).join(', ');
}

/** The log of a row. */
export function timeLogOf(row: TimeLogRow): TimeLog {
  const log = TimeLog.blank();
  const values: Partial<Record<string, unknown>> = log as object;
  COLUMNS.forEach(({ field, json }, index) => {
    values[field] = json.parse(row[index]!);
  });
  return log;
}

/** The JSON of the item of a row. Nothing of it is parsed here. */
export function itemJsonOf(row: TimeLogRow): string {
  let listed = '';
  for (const { index, before, after } of LISTED) listed += before + row[index]! + after;
  return itemJson(row[ID]!, listed);
}
