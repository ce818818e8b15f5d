import { TimeLogError } from './time-log.error.js';

/** A page by its number, from 1, and the most logs that it holds. */
export interface PageRequest {
  readonly page: number;
  readonly limit: number;
}

interface Listed {
  readonly id: string;
}

/** Asks the service for a page. */
export type ReadPage<L> = (request: PageRequest) => Promise<{ readonly data: readonly L[] }>;

/** Logs that follow each other in the list. */
interface Stretch<L> {
  readonly logs: readonly L[];
  /** How many logs stand before its end. */
  readonly end: number;
  readonly isLast: boolean;
}

/**
 * The logs in the order of the list, each once, while others write. A page that is asked for by its number shifts with every
 * log that is recorded before it. So each further page is asked for from the place of the last log that was yielded, and
 * only what stands behind that log is yielded: since the order of two logs never changes, this can be neither a log that was
 * yielded before nor the wrong one, however many were recorded meanwhile, and it takes no memory of what was yielded.
 *
 * A log that is there from the first page to the last is yielded once; one that is recorded meanwhile, once or not at all.
 * Rejects with TimeLogError LIST_CHANGED where the last yielded log is deleted meanwhile.
 */
export async function* everyLog<L extends Listed>(
  readPage: ReadPage<L>,
  pageSize: number,
): AsyncGenerator<L, void, undefined> {
  let stretch = await read(readPage, 0, pageSize);
  let last: L | undefined;
  for (;;) {
    yield* stretch.logs;
    if (stretch.isLast) return;
    last = stretch.logs.at(-1) ?? last;
    const place = stretch.end - 1;
    // Deleted logs before it bring it nearer to the front.
    const next = (await behind(last!, place)) ?? (await behind(last!, 0));
    if (!next) {
      throw new TimeLogError('LIST_CHANGED', 'the log up to which was listed has been deleted: list again');
    }
    stretch = next;
  }

  /** What stands behind a log, which is looked for from a place on. */
  async function behind({ id }: L, place: number): Promise<Stretch<L> | undefined> {
    for (;;) {
      const { logs, end, isLast } = await read(readPage, place, pageSize);
      const index = logs.findIndex((log) => log.id === id);
      if (index >= 0) return { logs: logs.slice(index + 1), end, isLast };
      if (isLast) return undefined;
      place = end;
    }
  }
}

async function read<L>(readPage: ReadPage<L>, place: number, pageSize: number): Promise<Stretch<L>> {
  const request = pageFrom(place, pageSize);
  const { data } = await readPage(request);
  const end = (request.page - 1) * request.limit + data.length;
  return { logs: data, end, isLast: data.length < request.limit };
}

/**
 * The page that reaches furthest behind a place (0 for the first log) among those that hold it. From a size of 50 on it
 * always holds one log more: else the place would have to be a multiple of the numbers to 50, which is beyond 2^53.
 */
export function pageFrom(place: number, pageSize: number): PageRequest {
  let [best, reach] = [pageSize, 0];
  for (let limit = pageSize; limit > reach; limit--) {
    const behind = limit - (place % limit);
    if (behind > reach) [best, reach] = [limit, behind];
  }
  return { page: Math.floor(place / best) + 1, limit: best };
}
