import { Limit } from '../../../libs/batching/src/index.js';
import { WAIT_SHARE } from '../time-log.limits.js';

/** The maximum number of items of a list that is not large. 100 of the longest descriptions are 2 MB. */
const MAX_SMALL_LIST_ITEMS = 100;
/** The same if logs have attributes. 20 of the largest are 1.3 MB. */
const MAX_SMALL_LIST_ITEMS_WITH_ATTRIBUTES = 20;
/** The number of large lists that are formed at a time: 1000 of the longest descriptions are 20 MB. */
const CONCURRENT_LARGE_LISTS = 2;

/** The number of batches that are parsed at a time: one while another is stored. */
const CONCURRENT_BATCHES = 2;

/** Limits the batches of requests that are parsed and stored at a time. */
export class BatchTurns extends Limit {
  /** `deadline` is that of a request in milliseconds. */
  constructor(deadline: number) {
    super(() => CONCURRENT_BATCHES, deadline);
  }
}

/** Limits the large lists that are formed at a time, for requests and messages together. */
export class LargeLists {
  private readonly limit: Limit;
  private readonly maxSmallItems: number;

  /** `deadline` is that of a request in milliseconds. */
  constructor(deadline: number, haveAttributes: boolean) {
    this.limit = new Limit(() => CONCURRENT_LARGE_LISTS, WAIT_SHARE * deadline);
    this.maxSmallItems = haveAttributes ? MAX_SMALL_LIST_ITEMS_WITH_ATTRIBUTES : MAX_SMALL_LIST_ITEMS;
  }

  /** Returns whether a list with this maximum number of items is large. */
  isLarge(limit: number): boolean {
    return limit > this.maxSmallItems;
  }

  /** Forms a large list for a caller. Throws DomainError SERVICE_UNAVAILABLE if it waits too long. */
  form<T>(caller: string | undefined, list: () => Promise<T>): Promise<T> {
    return this.limit.run(caller, list);
  }
}
