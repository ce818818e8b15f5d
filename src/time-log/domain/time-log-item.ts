import {
  isoText,
  createdAtOf,
  type FieldTable,
  type StoredTimeLog,
  TIME_LOG_FIELDS,
  type TimeLog,
} from './time-log.js';

type Fields = typeof TIME_LOG_FIELDS;
type ListedField = {
  [Name in keyof Fields]: Fields[Name] extends { readonly isListed: false } ? never : Name;
}[keyof Fields];

/** The fields of an item of a list, in their order. */
const LISTED_FIELDS = Object.entries<FieldTable[string]>(TIME_LOG_FIELDS)
  .filter(([, { isListed }]) => isListed !== false)
  .map(([name]) => name as ListedField);

/** A log as an item of a list. */
export type TimeLogItem = Pick<StoredTimeLog, 'id' | ListedField | 'attributes'> & {
  /** UTC with milliseconds, `2026-01-31T09:30:00.123Z`. */
  readonly createdAt: string;
};

/** The items of one page as JSON, and the number of matching logs, from one snapshot. */
export interface TimeLogItems {
  readonly items: Iterable<string>;
  readonly total: number;
}

/** The fields of an item between `id` and `createdAt`. Attributes are optional. */
export const ITEM_FIELDS = [...LISTED_FIELDS, 'attributes'] as const;
const NAME_PREFIXES = ITEM_FIELDS.map((name) => `,"${name}":`);

/**
 * Returns the JSON of an item; all lists use this function. `jsonOf` returns the JSON of the field with an
 * index in `ITEM_FIELDS`, or undefined if the source has no such value.
 */
export function itemJson<Source>(
  id: string,
  source: Source,
  jsonOf: (source: Source, index: number) => string | undefined,
): string {
  let json = `{"id":"${id}"`;
  for (let index = 0; index < NAME_PREFIXES.length; index++) {
    const value = jsonOf(source, index);
    if (value !== undefined) json += NAME_PREFIXES[index]! + value;
  }
  return `${json},"createdAt":"${isoText(createdAtOf(id))}"}`;
}

/** Yields the JSON of each log as an item. */
export function* itemsOf(logs: readonly TimeLog[]): Generator<string> {
  for (const log of logs) yield itemJson(log.id, log, valueJson);
}

function valueJson(log: TimeLog, index: number): string | undefined {
  return JSON.stringify(log[ITEM_FIELDS[index]!]);
}
