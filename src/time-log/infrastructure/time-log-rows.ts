import type { TextRow } from '../../database/index.js';
import { type StoredTimeLog, TimeLog } from '../domain/time-log.js';
import { ITEM_FIELDS, itemJson } from '../domain/time-log-item.js';
import { COLUMN_TEXTS, type ColumnTexts, TIME_LOG_COLUMNS } from './time-log.mapping.js';

const asItIs = (value: unknown) => value;

interface Column {
  readonly name?: string;
  readonly type: keyof typeof COLUMN_TEXTS;
  readonly nullable?: boolean;
  readonly transformer?: { readonly to: (value: never) => unknown; readonly from: (text: never) => unknown };
}

const COLUMNS = (Object.keys(TIME_LOG_COLUMNS) as (keyof StoredTimeLog)[]).map((field) => {
  const { name = field, type, nullable = false, transformer }: Column = TIME_LOG_COLUMNS[field];
  const { select, json, parse, write }: ColumnTexts = COLUMN_TEXTS[type];
  const from = (text: string) => (transformer?.from ?? asItIs)(parse(text) as never);
  const toText = (value: unknown) => (write ?? asItIs)((transformer?.to ?? asItIs)(value as never));
  const to = (value: unknown) => (value === undefined ? null : toText(value));
  return { field, name, type, nullable, select, json, from, to };
});

type Columns = typeof COLUMNS;
const ID = COLUMNS.findIndex(({ field }) => field === 'id');

/** How logs are rows. Where they have no attributes, statements know nothing of that column. */
export class TimeLogRows {
  private readonly columns: Columns;
  /** The columns of `ITEM_FIELDS` and their indexes in a row, -1 for one that rows lack. */
  private readonly listed: readonly { readonly index: number; readonly json: (text: string) => string }[];
  /** The names of the columns, as a list of SQL. */
  readonly names: string;
  /** The parameters of a statement that writes logs, for `unnest`: from `$1` on, one for each column. */
  readonly arrays: string;
  /** The number of the next free parameter. */
  readonly nextParameter: number;
  /** The columns but that of the id, as a list of SQL, and their parameters in a statement with one log. */
  readonly valueNames: string;
  readonly values: string;

  constructor(haveAttributes: boolean) {
    const columns = haveAttributes ? COLUMNS : COLUMNS.filter(({ field }) => field !== 'attributes');
    this.columns = columns;
    this.listed = ITEM_FIELDS.map((name) => ({
      index: columns.findIndex(({ field }) => field === name),
      json: COLUMN_TEXTS[TIME_LOG_COLUMNS[name].type].json,
    }));
    this.names = namesOf(columns);
    this.arrays = columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ');
    this.nextParameter = columns.length + 1;
    this.valueNames = namesOf(columns.filter((_column, index) => index !== ID));
    this.values = columns
      .flatMap(({ type }, index) => (index === ID ? [] : [`$${index + 1}::${type}`]))
      .join(', ');
  }

  /** The values of the parameters `arrays`. */
  arraysOf(logs: readonly TimeLog[]): unknown[][] {
    return this.columns.map(({ field, to }) => logs.map((log) => to(log[field])));
  }

  /** The parameters of a statement with one log; the id is the first, `$1`. */
  valuesOf(log: TimeLog): unknown[] {
    return this.columns.map(({ field, to }) => to(log[field]));
  }

  /** What the rows of a `TextStatement` begin with, of a log that it knows by this name. */
  selection(log: string): string {
    return this.columns.map(({ name, select }) => `${select(`(${log}).${name}`)} as ${name}`).join(', ');
  }

  /** The bytes of the texts of a log that it knows by this name. The server need not read a column of texts to tell. */
  weight(log: string): string {
    const texts = this.columns.filter(({ type }) => type === 'text' || type === 'jsonb');
    const lengths = texts.map(({ name, type, nullable }) => {
      const length = `octet_length((${log}).${name}${type === 'text' ? '' : '::text'})`;
      return nullable ? `coalesce(${length}, 0)` : length;
    });
    return lengths.join(' + ');
  }

  /** The log of a row. */
  log(row: TextRow): TimeLog {
    const log = TimeLog.blank();
    const values: Partial<Record<string, unknown>> = log as object;
    this.columns.forEach(({ field, from }, index) => {
      const text = row[index];
      if (text !== null) values[field] = from(text!);
    });
    return log;
  }

  /** Yields the JSON of the item of each row. No log is made for it. */
  *items(rows: readonly TextRow[]): Generator<string> {
    for (const row of rows) yield itemJson(row[ID]!, row, this.valueJson);
  }

  private readonly valueJson = (row: TextRow, index: number): string | undefined => {
    const { index: place, json } = this.listed[index]!;
    const text = place < 0 ? null : row[place]!;
    return text === null ? undefined : json(text);
  };
}

function namesOf(columns: Columns): string {
  return columns.map(({ name }) => name).join(', ');
}
