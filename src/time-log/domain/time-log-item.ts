import { type FieldTable, type StoredTimeLog, TIME_LOG_FIELDS } from './time-log.js';

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
