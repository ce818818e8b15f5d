import { isoText } from './iso-text.js';
import {
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

/** The fields of a log that an item of a list has, in its order. */
export const LISTED_FIELDS = Object.entries<FieldTable[string]>(TIME_LOG_FIELDS)
  .filter(([, { isListed }]) => isListed !== false)
  .map(([name]) => name as ListedField);

/** A log as an item of a list. */
export type TimeLogItem = Pick<StoredTimeLog, 'id' | ListedField | 'attributes'> & {
  /** UTC with milliseconds, `2026-01-31T09:30:00.123Z`. */
  readonly createdAt: string;
};

/** The items of one page as JSON texts, and how many logs match the filter, both at the same moment. */
export interface TimeLogItems {
  readonly items: Iterable<string>;
  readonly total: number;
}

/** The values of an item between its id and `createdAt`. Most logs have no attributes. */
export const ITEM_VALUES = [...LISTED_FIELDS, 'attributes'] as const;
const MEMBERS = ITEM_VALUES.map((name) => `,"${name}":`);

/**
 * Returns the JSON of an item: every list is written here. `jsonOf` returns the JSON of the value of the source that
 * has this index in `ITEM_VALUES`, or undefined if the source has no such value.
 */
export function itemJson<Source>(
  id: string,
  source: Source,
  jsonOf: (source: Source, index: number) => string | undefined,
): string {
  let json = `{"id":"${id}"`;
  for (let index = 0; index < MEMBERS.length; index++) {
    const value = jsonOf(source, index);
    if (value !== undefined) json += MEMBERS[index]! + value;
  }
  return `${json},"createdAt":"${isoText(createdAtOf(id))}"}`;
}

/** Yields the JSON of the item of each log. It has no other members, whatever a host's adapter puts into a log. */
export function* itemsOf(logs: readonly TimeLog[]): Generator<string> {
  for (const log of logs) yield itemJson(log.id, log, valueJson);
}

function valueJson(log: TimeLog, index: number): string | undefined {
  return JSON.stringify(log[ITEM_VALUES[index]!]);
}
