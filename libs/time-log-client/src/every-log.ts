import { TimeLogError } from './time-log.error.js';

/** The least logs of a page with which a list is sure to get on (see pageFrom). */
export const LEAST_PAGE = 50;

/** A page by its number, from 1, and the most logs that it may hold. */
export interface PageRequest {
  readonly page: number;
  readonly limit: number;
}

interface Listed {
  readonly id: string;
}

/** Asks the service for one page. */
export type ReadPage<L> = (request: PageRequest) => Promise<{ readonly data: readonly L[] }>;

/** Logs that follow one another in the list. */
interface Stretch<L> {
  readonly logs: readonly L[];
  /** How many logs of the list end here: those before this stretch, and its own. */
  readonly end: number;
  readonly isLast: boolean;
}

/**
 * Yields the logs in the order of the list, each once, while others write. Each log that is recorded meanwhile may
 * shift the pages. So each further page is asked for from the place of the last yielded log, and only the logs behind
 * that log are yielded. Two logs never change their order, so none of these was yielded before, and none is left out,
 * however many were recorded meanwhile. It need not remember what it has yielded.
 *
 * A log that exists from the first page to the last is yielded once. A log that is recorded meanwhile is yielded once
 * or not at all. Rejects with TimeLogError LIST_CHANGED where the last yielded log is deleted meanwhile.
 *
 * A broker takes answers of limited size: where one is too large, it goes on with smaller pages.
 */
export async function* everyLog<L extends Listed>(
  readPage: ReadPage<L>,
  pageSize: number,
): AsyncGenerator<L, void, undefined> {
  let stretch = await read(0);
  let last: L | undefined;
  for (;;) {
    yield* stretch.logs;
    if (stretch.isLast) return;
    last = stretch.logs.at(-1) ?? last;
    const place = stretch.end - 1;
    // Deleted logs before it move it towards the front.
    const next = (await behind(last!, place)) ?? (await behind(last!, 0));
    if (!next) {
      throw new TimeLogError('LIST_CHANGED', 'the log up to which was listed has been deleted: list again');
    }
    stretch = next;
  }

  /** Finds a log, from a place on, and returns the logs behind it. Undefined: the log is not there. */
  async function behind({ id }: L, place: number): Promise<Stretch<L> | undefined> {
    for (;;) {
      const { logs, end, isLast } = await read(place);
      const index = logs.findIndex((log) => log.id === id);
      if (index >= 0) return { logs: logs.slice(index + 1), end, isLast };
      if (isLast) return undefined;
      place = end;
    }
  }

  async function read(place: number): Promise<Stretch<L>> {
    const request = pageFrom(place, pageSize);
    try {
      const { data } = await readPage(request);
      const end = (request.page - 1) * request.limit + data.length;
      return { logs: data, end, isLast: data.length < request.limit };
    } catch (error) {
      const isTooLarge = error instanceof TimeLogError && error.code === 'PAYLOAD_TOO_LARGE';
      if (!isTooLarge || pageSize === LEAST_PAGE) throw error;
      pageSize = Math.max(LEAST_PAGE, Math.floor(pageSize / 2));
      return read(place);
    }
  }
}

/**
 * The page that holds a place (0 is the first log) and reaches furthest behind it. With a page size of 50 or more it
 * holds at least one further log. Otherwise the place plus 1 would be a multiple of all numbers up to 50: over 2^53.
 */
export function pageFrom(place: number, pageSize: number): PageRequest {
  let [best, reach] = [pageSize, 0];
  for (let limit = pageSize; limit > reach; limit--) {
    const behind = limit - (place % limit);
    if (behind > reach) [best, reach] = [limit, behind];
  }
  return { page: Math.floor(place / best) + 1, limit: best };
}
