import type { TextRow } from '../../database/index.js';
import { type StoredTimeLog, TimeLog } from '../domain/time-log.js';
import { LISTED_FIELDS } from '../wire/time-log-bodies.js';
import { itemJson } from '../wire/time-log-json.js';
import { COLUMN_TEXTS, TIME_LOG_COLUMNS } from './time-log.mapping.js';

const asItIs = (value: unknown) => value;

interface Column {
  readonly name?: string;
  readonly type: keyof typeof COLUMN_TEXTS;
  readonly transformer?: { readonly to: (value: never) => string; readonly from: (text: string) => unknown };
}

const COLUMNS = (Object.keys(TIME_LOG_COLUMNS) as (keyof StoredTimeLog)[]).map((field) => {
  const { name = field, type, transformer }: Column = TIME_LOG_COLUMNS[field];
  const { select, json, parse } = COLUMN_TEXTS[type];
  const from = (text: string) => (transformer?.from ?? asItIs)(parse(text) as string);
  return { field, name, type, select, json, from, to: transformer?.to ?? asItIs };
});

const ID = COLUMNS.findIndex(({ field }) => field === 'id');
/** Where a row has the listed values, and what stands before each in an item. */
const LISTED = LISTED_FIELDS.map((name, number) => {
  const index = COLUMNS.findIndex(({ field }) => field === name);
  return { index, before: `${number === 0 ? '' : ','}"${name}":`, json: COLUMNS[index]!.json };
});

/** The names of the columns, as a list of SQL. */
export const TIME_LOG_COLUMN_NAMES = namesOf(COLUMNS);

/** The parameters of a statement that writes logs, for `unnest`: from `$1` on, one for each column. */
export const TIME_LOG_ARRAYS = COLUMNS.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ');

/** The number of the next free parameter. */
export const NEXT_PARAMETER = COLUMNS.length + 1;

/** The values of those parameters. */
export function timeLogArrays(logs: readonly TimeLog[]): unknown[][] {
  return COLUMNS.map(({ field, to }) => logs.map((log) => to(log[field] as never)));
}

/** The columns but that of the id, as a list of SQL, and their parameters in a statement with one log. */
export const TIME_LOG_VALUE_NAMES = namesOf(COLUMNS.filter((_column, index) => index !== ID));
export const TIME_LOG_VALUES = COLUMNS.flatMap(({ type }, index) =>
  index === ID ? [] : [`$${index + 1}::${type}`],
).join(', ');

/** The parameters of such a statement; the id is the first, `$1`. */
export function timeLogValues(log: TimeLog): unknown[] {
  return COLUMNS.map(({ field, to }) => to(log[field] as never));
}

/** What the rows of a `TextStatement` begin with, of a log that it knows by this name. */
export function timeLogSelection(log: string): string {
  return COLUMNS.map(({ name, select }) => `${select(`(${log}).${name}`)} as ${name}`).join(', ');
}

/** The bytes of the texts of a log that it knows by this name. The server need not read them to tell. */
export function timeLogWeight(log: string): string {
  const texts = COLUMNS.filter(({ type }) => type === 'text');
  return texts.map(({ name }) => `octet_length((${log}).${name})`).join(' + ');
}

/** The log of a row. */
export function timeLogOf(row: TextRow): TimeLog {
  const log = TimeLog.blank();
  const values: Partial<Record<string, unknown>> = log as object;
  COLUMNS.forEach(({ field, from }, index) => {
    values[field] = from(row[index]!);
  });
  return log;
}

/** The JSON of the item of a row. */
export function itemJsonOf(row: TextRow): string {
  let listed = '';
  for (const { index, before, json } of LISTED) listed += before + json(row[index]!);
  return itemJson(row[ID]!, listed);
}

function namesOf(columns: typeof COLUMNS): string {
  return columns.map(({ name }) => name).join(', ');
}
