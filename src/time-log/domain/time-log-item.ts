import { isoText } from './iso-text.js';
import type { TimeLogPage } from './time-log.repository.js';
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

/** The values of a log that an item of a list tells, in its order. */
export const LISTED_FIELDS = Object.entries<FieldTable[string]>(TIME_LOG_FIELDS)
  .filter(([, { isListed }]) => isListed !== false)
  .map(([name]) => name as ListedField);

/** On a page whose store writes the items. A WeakMap would keep them through each collection of young garbage. */
const WRITTEN = Symbol.for('time-logs.items');

interface WrittenPage extends TimeLogPage {
  readonly [WRITTEN]?: Iterable<string> | undefined;
}

/** A log as an item of a list. */
export type TimeLogItem = Pick<StoredTimeLog, 'id' | ListedField> & {
  /** UTC with milliseconds, `2026-01-31T09:30:00.123Z`. */
  readonly createdAt: string;
};

/** The item of a log. It has these members and no others, whatever a host's adapter puts into a log. */
export function itemOf(log: TimeLog): TimeLogItem {
  const values = Object.fromEntries(LISTED_FIELDS.map((name) => [name, log[name]]));
  return { id: log.id, ...values, createdAt: isoText(log.createdAt.getTime()) } as TimeLogItem;
}

/** The items of a page as JSON, one by one. */
export function itemsOf(page: WrittenPage): Iterable<string> {
  return page[WRITTEN] ?? each(page.logs, (log) => JSON.stringify(itemOf(log)));
}

/**
 * A page of a store whose rows become items without a log for each. The logs are made where somebody asks for them.
 * From then on they are the page, and so they are for whoever copies it: a host may have changed them.
 */
export function writtenPage<Row>(
  total: number,
  rows: readonly Row[],
  make: { readonly log: (row: Row) => TimeLog; readonly item: (row: Row) => string },
): TimeLogPage {
  let logs: readonly TimeLog[] | undefined;
  const page: TimeLogPage = {
    total,
    get logs() {
      return (logs ??= rows.map(make.log));
    },
  };
  // Not enumerable: a copy does not have it.
  return Object.defineProperty(page, WRITTEN, {
    get: () => (logs === undefined ? each(rows, make.item) : undefined),
  });
}

/** An item of an id and the JSON members of the listed values. */
export function itemJson(id: string, listed: string): string {
  return `{"id":"${id}",${listed},"createdAt":"${isoText(createdAtOf(id))}"}`;
}

function* each<From>(all: readonly From[], make: (one: From) => string): Generator<string> {
  for (const one of all) yield make(one);
}
