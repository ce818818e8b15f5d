import { isDeepStrictEqual } from 'node:util';
import type { TextRow } from '../../database/index.js';
import { type Attributes, createdAtOf, isoText, type StoredTimeLog, TimeLog } from '../domain/time-log.js';
import { ITEM_FIELDS } from '../domain/time-log-item.js';
import type { Bind } from './time-log-conditions.js';
import { COLUMN_TEXTS, type ColumnTexts, TIME_LOG_COLUMNS } from './time-log.mapping.js';

const asIs = (value: unknown) => value;

interface Column {
  readonly name?: string;
  readonly type: keyof typeof COLUMN_TEXTS;
  readonly nullable?: boolean;
}

const COLUMNS = (Object.keys(TIME_LOG_COLUMNS) as (keyof StoredTimeLog)[]).map((field) => {
  const { name = field, type, nullable = false }: Column = TIME_LOG_COLUMNS[field];
  const {
    write = asIs,
    comparable = String,
    replace = (_stored, sent) => sent,
    ...texts
  }: ColumnTexts = COLUMN_TEXTS[type];
  const writeOrNull = (value: unknown) => (value === undefined ? null : write(value as never));
  return {
    ...{ field, name, type, nullable, comparable, replace, ...texts },
    write: nullable ? writeOrNull : write,
  };
});

type Columns = typeof COLUMNS;
const ID = COLUMNS.findIndex(({ field }) => field === 'id');
const ATTRIBUTES = COLUMNS.findIndex(({ field }) => field === 'attributes');

/** The fields that a statement reads: all, or only those of an item of a list. */
export type ReadFields = 'all' | 'listed';
const LISTED: ReadonlySet<string> = new Set(['id', ...ITEM_FIELDS]);

/** Converts logs to rows and back. Without attributes, no statement uses that column. */
export class TimeLogRows {
  private readonly columns: Columns;
  /** The fields of an item that rows have, with the text before the value and their index in a row. */
  private readonly listed: readonly {
    readonly prefix: string;
    readonly index: number;
    readonly json: (text: string) => string;
  }[];
  /** The SQL list of all columns. */
  readonly names: string;
  /** The SQL list of array parameters for `unnest`, one for each column, from `$1`. */
  readonly arrays: string;
  /** The number of the next free parameter. */
  readonly nextParameter: number;
  /** All columns except the id, and their SQL list. */
  private readonly valueColumns: Columns;
  readonly valueNames: string;
  /** The attributes of logs as they are stored: SQL may have stored numbers that JSON.parse rounds, or null. */
  private readonly storedAttributes = new WeakMap<TimeLog, string>();

  constructor(readonly haveAttributes: boolean) {
    const columns = haveAttributes ? COLUMNS : COLUMNS.filter(({ field }) => field !== 'attributes');
    this.columns = columns;
    this.listed = ITEM_FIELDS.map((name) => ({
      prefix: `,"${name}":`,
      index: columns.findIndex(({ field }) => field === name),
      json: COLUMN_TEXTS[TIME_LOG_COLUMNS[name].type].json,
    })).filter(({ index }) => index >= 0);
    this.names = namesOf(columns);
    this.arrays = columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ');
    this.nextParameter = columns.length + 1;
    this.valueColumns = columns.toSpliced(ID, 1);
    this.valueNames = namesOf(this.valueColumns);
  }

  /**
   * Returns the SQL list of the values of a correction for a log with this alias, in the order of `valueNames`. A value
   * that the log returns as it was sent stays as it is stored. Attributes replace those of the expected log; without
   * an expected log, missing attributes stay.
   */
  replacements(log: string, corrected: TimeLog, expected: TimeLog | undefined, bind: Bind): string {
    const values = this.valueColumns.map(({ field, type, name, write, replace }) => {
      const [stored, sent] = [`${log}.${name}`, `${bind(write(corrected[field] as never))}::${type}`];
      if (field !== 'attributes') return replace(stored, sent);
      if (expected === undefined) return `coalesce(${sent}, ${stored})`;
      const text = this.attributesText(expected);
      const before = `${bind(text)}::${type}`;
      const unchanged = `${before} - ${bind(changedNames(corrected.attributes, text))}::text[]`;
      return `${sent} || case jsonb_typeof(${before}) when 'object' then ${unchanged} else '{}' end`;
    });
    return values.join(', ');
  }

  /** Returns the SQL condition that a row with this alias differs from the expected log. */
  differs(log: string, expected: TimeLog, bind: Bind): string {
    const conditions = this.valueColumns.map(({ field, name, type, comparable, write }) => {
      const value = field === 'attributes' ? this.attributesText(expected) : write(expected[field] as never);
      return `${comparable(`${log}.${name}`)} is distinct from ${comparable(`${bind(value)}::${type}`)}`;
    });
    return `(${conditions.join(' or ')})`;
  }

  /** Returns the attributes of a log as they were read, or as they would be stored. */
  private attributesText(log: TimeLog): string | null {
    return this.storedAttributes.get(log) ?? (log.attributes ? JSON.stringify(log.attributes) : null);
  }

  /** Returns the values of the parameters `arrays`. */
  arraysOf(logs: readonly TimeLog[]): unknown[][] {
    return this.columns.map(({ field, write }) => logs.map((log) => write(log[field] as never)));
  }

  /**
   * Returns the select list for a log with this alias, with null for fields that are not read. It comes first in a
   * `TextStatement`.
   */
  selection(log: string, fields: ReadFields = 'all'): string {
    const selections = this.columns.map(({ field, name, select }) => {
      const isRead = fields === 'all' || LISTED.has(field);
      return `${isRead ? select(`(${log}).${name}`) : 'null'} as ${name}`;
    });
    return selections.join(', ');
  }

  /** Returns the log of a row. */
  log(row: TextRow): TimeLog {
    const log = TimeLog.blank();
    const values: Partial<Record<string, unknown>> = log as object;
    this.columns.forEach(({ field, read }, index) => {
      const text = row[index];
      if (text !== null) values[field] = read(text!);
    });
    const attributes = this.haveAttributes ? row[ATTRIBUTES]! : null;
    if (attributes !== null) this.storedAttributes.set(log, attributes);
    return log;
  }

  /** Yields the JSON of the item of each row, without making a log. */
  *items(rows: readonly TextRow[]): Generator<string> {
    for (const row of rows) {
      const id = row[ID]!;
      let item = `{"id":"${id}"`;
      for (const { prefix, index, json } of this.listed) {
        const text = row[index];
        if (text != null) item += prefix + json(text);
      }
      yield `${item},"createdAt":"${isoText(createdAtOf(id))}"}`;
    }
  }
}

/** Returns the names of the stored attributes that a correction removes or changes. */
function changedNames(corrected: Attributes | undefined, text: string | null): string[] {
  const stored = Object(COLUMN_TEXTS.jsonb.read(text ?? '{}')) as Attributes;
  return Object.keys(stored).filter((name) => !isDeepStrictEqual(corrected?.[name], stored[name]));
}

function namesOf(columns: Columns): string {
  return columns.map(({ name }) => name).join(', ');
}
