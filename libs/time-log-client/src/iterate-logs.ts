import { MAX_PAGE_SIZE, MIN_PAGE_SIZE, requirePageSize } from './arguments.js';
import { TimeLogError } from './time-log.error.js';

/** The number of a page, from 1, and its maximum number of logs. */
export interface PageRequest {
  readonly page: number;
  readonly limit: number;
}

interface Listed {
  readonly id: string;
}

/** Requests one page. */
export type ReadPage<L> = (request: PageRequest) => Promise<{ readonly data: readonly L[] }>;

/** Consecutive logs of the list. */
interface Segment<L> {
  readonly logs: readonly L[];
  /** The index in the list after the last of these logs. */
  readonly end: number;
  readonly isLast: boolean;
}

/** Returns the logs of a list, as `iterateLogs`. Throws TypeError for a page size with which it cannot be read. */
export function listLogs<L extends Listed>(
  readPage: ReadPage<L>,
  pageSize = MAX_PAGE_SIZE,
): AsyncGenerator<L, void, undefined> {
  requirePageSize(pageSize);
  return iterateLogs(readPage, pageSize);
}

/**
 * Yields the logs in the order of the list, each once, while other clients write. A log that is
 * recorded meanwhile may shift the pages. So each further page is requested from the index of the
 * last yielded log, and only the logs after that log are yielded. The order of two logs never
 * changes, so no log is yielded twice or left out, and none needs to be remembered.
 *
 * A log that exists during the whole iteration is yielded once. A log that is recorded meanwhile is
 * yielded once or not at all. Rejects with TimeLogError LIST_CHANGED if the last yielded log was
 * deleted.
 *
 * Brokers limit the size of a response. If one is too large, the page size is reduced.
 */
export async function* iterateLogs<L extends Listed>(
  readPage: ReadPage<L>,
  pageSize: number,
): AsyncGenerator<L, void, undefined> {
  let segment = await read(0);
  let last: L | undefined;
  for (;;) {
    yield* segment.logs;
    if (segment.isLast) return;
    last = segment.logs.at(-1) ?? last;
    const index = segment.end - 1;
    // Deletions of earlier logs move it towards the front.
    const next = (await readAfter(last!, index)) ?? (await readAfter(last!, 0));
    if (!next) throw new TimeLogError('LIST_CHANGED', 'the last listed log was deleted: list again');
    segment = next;
  }

  /** Searches for a log from an index on. Returns the logs after it; undefined if not found. */
  async function readAfter({ id }: L, from: number): Promise<Segment<L> | undefined> {
    for (;;) {
      const { logs, end, isLast } = await read(from);
      const index = logs.findIndex((log) => log.id === id);
      if (index >= 0) return { logs: logs.slice(index + 1), end, isLast };
      if (isLast) return undefined;
      from = end;
    }
  }

  async function read(from: number): Promise<Segment<L>> {
    const request = pageFrom(from, pageSize);
    try {
      const { data } = await readPage(request);
      const end = (request.page - 1) * request.limit + data.length;
      return { logs: data, end, isLast: data.length < request.limit };
    } catch (error) {
      const isTooLarge = error instanceof TimeLogError && error.code === 'PAYLOAD_TOO_LARGE';
      if (!isTooLarge || pageSize === MIN_PAGE_SIZE) throw error;
      pageSize = Math.max(MIN_PAGE_SIZE, Math.floor(pageSize / 2));
      return read(from);
    }
  }
}

/**
 * Returns the page that contains an index (0 is the first log) and the most logs after it. With a
 * page size of 50 or more it contains at least one: otherwise the index plus 1 would be a multiple
 * of all numbers up to 50, which exceeds 2^53.
 */
function pageFrom(index: number, pageSize: number): PageRequest {
  let [best, most] = [pageSize, 0];
  for (let limit = pageSize; limit > most; limit--) {
    const following = limit - (index % limit);
    if (following > most) [best, most] = [limit, following];
  }
  return { page: Math.floor(index / best) + 1, limit: best };
}
