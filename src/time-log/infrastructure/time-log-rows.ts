import { type StoredTimeLog, TimeLog } from '../domain/time-log.js';
import { TIME_LOG_COLUMNS } from './time-log.mapping.js';

/** A row of the table, or of a function that returns such rows, by column. */
export type TimeLogRow = Readonly<Record<string, string>>;

const asItIs = (value: unknown) => value;

const COLUMNS = (Object.keys(TIME_LOG_COLUMNS) as (keyof StoredTimeLog)[]).map((field) => {
  const { name = field, type, transformer }: Column = TIME_LOG_COLUMNS[field];
  return { field, name, type, to: transformer?.to ?? asItIs, from: transformer?.from ?? asItIs };
});

interface Column {
  readonly name?: string;
  readonly type: string;
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
  for (const { field, name, from } of COLUMNS) values[field] = from(row[name]!);
  return log;
}
