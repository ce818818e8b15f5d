import type { TimeLog } from '../domain/time-log.js';
import type { TimeLogPage } from '../domain/time-log.repository.js';

/** What becomes of a row: a log, or at once the JSON of an item. */
interface Making<Row> {
  readonly log: (row: Row) => TimeLog;
  readonly item: (row: Row) => string;
}

/**
 * A page of a store whose rows become items without a log for each. The logs are made where somebody asks for them.
 * From then on they are the page, and so they are for whoever copies it: a host may have changed them.
 */
export class LazyPage<Row> implements TimeLogPage {
  /** One for all pages. V8 keeps the getter of an object, and all that it holds, until a collection of old garbage. */
  static readonly #LOGS = {
    enumerable: true,
    get(this: LazyPage<unknown>) {
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
    Object.defineProperty(this, 'logs', LazyPage.#LOGS);
  }

  /** The JSON of the items, or undefined where the logs of a page tell what they are. */
  static itemsOf(page: TimeLogPage): Iterable<string> | undefined {
    return #rows in page && page.#logs === undefined ? page.#items() : undefined;
  }

  *#items(): Generator<string> {
    for (const row of this.#rows) yield this.#make.item(row);
  }
}
