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
export function itemsOf(page: TimeLogPage): Iterable<string> {
  return WrittenPage.itemsOf(page) ?? each(page.logs, (log) => JSON.stringify(itemOf(log)));
}

/** What becomes of a row: a log, or at once the JSON of an item. */
interface Making<Row> {
  readonly log: (row: Row) => TimeLog;
  readonly item: (row: Row) => string;
}

/**
 * A page of a store whose rows become items without a log for each. The logs are made where somebody asks for them.
 * From then on they are the page, and so they are for whoever copies it: a host may have changed them.
 */
export class WrittenPage<Row> implements TimeLogPage {
  /** One for all pages. V8 keeps the getter of an object, and all that it holds, until a collection of old garbage. */
  static readonly #LOGS = {
    enumerable: true,
    get(this: WrittenPage<unknown>) {
      return (this.#logs ??= this.#rows.map(this.#make.log));
    },
  };

  declare readonly logs: readonly TimeLog[];
  #logs: readonly TimeLog[] | undefined;
  readonly #rows: readonly Row[];
  readonly #make: Making<Row>;

  constructor(
    readonly total: number,
    rows: readonly Row[],
    make: Making<Row>,
  ) {
    this.#rows = rows;
    this.#make = make;
    // A copy of the page has the logs, so they cannot be on the prototype.
    Object.defineProperty(this, 'logs', WrittenPage.#LOGS);
  }

  /** The items, or undefined where the logs of a page tell what they are. */
  static itemsOf(page: TimeLogPage): Iterable<string> | undefined {
    return #rows in page && page.#logs === undefined ? each(page.#rows, page.#make.item) : undefined;
  }
}

/** An item of an id and the JSON members of the listed values. */
export function itemJson(id: string, listed: string): string {
  return `{"id":"${id}",${listed},"createdAt":"${isoText(createdAtOf(id))}"}`;
}

function* each<From>(all: readonly From[], make: (one: From) => string): Generator<string> {
  for (const one of all) yield make(one);
}
