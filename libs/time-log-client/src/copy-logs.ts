import { apply, type FeedReader, isGone, iterateEventPages } from './iterate-events.js';
import type { TimeLogExport } from './export-logs.js';
import type { TimeLogCopy } from './time-logs.js';

/** The number of times that a copy is started again, because the feed no longer reaches back. */
const MAX_RESTARTS = 3;
/** The delay before the first of them, in milliseconds. It doubles with each. */
const FIRST_RESTART_DELAY_MS = 1_000;

/** Fills a copy, or continues it after a place. Returns the next `after` at the end of the feed. */
export async function copyLogs(
  feed: FeedReader,
  startExport: () => Promise<TimeLogExport>,
  copy: TimeLogCopy,
  after: string | undefined,
): Promise<string | undefined> {
  let last = after;
  for (let restarts = 0; ;) {
    last ??= await fill(copy, await startExport());
    try {
      for await (const { events, next = events.at(-1)?.id } of iterateEventPages(feed, last)) {
        for (const event of events) await apply(event, copy);
        if (next === undefined || next === last) continue;
        last = next;
        await copy.save?.(next);
      }
      return last;
    } catch (error) {
      if (!isGone(error) || ++restarts > MAX_RESTARTS) throw error;
      last = undefined;
      await feed.pause(FIRST_RESTART_DELAY_MS * 2 ** (restarts - 1));
    }
  }
}

/** Replaces the copy by an export. Returns its place in the feed. */
async function fill(copy: TimeLogCopy, logs: TimeLogExport): Promise<string | undefined> {
  try {
    await copy.clear();
    for await (const log of logs) await copy.set(log.id, log);
  } finally {
    await logs.return();
  }
  if (logs.lastEventId !== undefined) await copy.save?.(logs.lastEventId);
  return logs.lastEventId;
}
