import type { components } from './openapi.js';
import { TimeLogError } from './time-log.error.js';
import type { RecordedTimeLog, TimeLogCopy, WithAttributes } from './time-logs.js';

/** A CloudEvent 1.0 about a log that was recorded, corrected or deleted. */
export type TimeLogEvent = OfAnyHost<components['schemas']['TimeLogEvent']>;

/** Host applications may set another source of events, and store attributes with logs. */
type OfAnyHost<E extends { data: object }> = E extends unknown
  ? Omit<E, 'source' | 'data'> & { source: string; data: E['data'] & WithAttributesOf<E['data']> }
  : never;
type WithAttributesOf<Data> = Data extends { createdAt: string } ? WithAttributes : unknown;

export interface FeedReader {
  /** Requests the next events after the one with this id. */
  readonly readPage: (lastEventId: string | undefined) => Promise<readonly TimeLogEvent[]>;
  /** The maximum number of events of a page. */
  readonly pageSize: number;
  /** Waits before the next request for new events. Undefined to stop at the end of the feed. */
  readonly pause?: (() => Promise<unknown>) | undefined;
}

/** Yields the events of the feed after the one with this id, each once and in order. */
export async function* iterateEvents(
  feed: FeedReader,
  after: string | undefined,
): AsyncGenerator<TimeLogEvent, void, undefined> {
  for await (const events of iteratePages(feed, after)) yield* events;
}

/** Yields the pages of the feed after the event with this id. The last one may be empty. */
export async function* iteratePages(
  { readPage, pageSize, pause }: FeedReader,
  after: string | undefined,
): AsyncGenerator<readonly TimeLogEvent[], void, undefined> {
  for (let last = after; ;) {
    const events = await readPage(last);
    yield events;
    last = events.at(-1)?.id ?? last;
    if (events.length >= pageSize) continue;
    if (!pause) return;
    await pause();
  }
}

/**
 * Applies the events of the feed to a copy of the logs, and then yields each. If the feed no longer
 * reaches back to the last event, it empties the copy and starts from the beginning.
 */
export async function* followEvents(
  copy: Map<string, RecordedTimeLog>,
  eventsAfter: (last: string | undefined) => AsyncIterable<TimeLogEvent>,
  after: string | undefined,
): AsyncGenerator<TimeLogEvent, void, undefined> {
  for (let last = after; ;) {
    try {
      for await (const event of eventsAfter(last)) {
        apply(event, copy);
        last = event.id;
        yield event;
      }
      return;
    } catch (error) {
      if (last === undefined || !isGone(error)) throw error;
      copy.clear();
      last = undefined;
    }
  }
}

/** Returns whether the feed no longer reaches back to the requested event. */
export function isGone(error: unknown): boolean {
  return error instanceof TimeLogError && error.code === 'GONE';
}

/** Applies an event to the copy. Ignores types of later versions. */
export function apply(event: TimeLogEvent, copy: Pick<TimeLogCopy, 'set' | 'delete'>): unknown {
  switch (event.type) {
    case 'time-log.created':
    case 'time-log.corrected':
      return copy.set(event.data.id, event.data);
    case 'time-log.deleted':
      return copy.delete(event.data.id);
  }
}

/** Returns the events in a response body; undefined if it is another body. */
export function parseEvents(body: unknown): readonly TimeLogEvent[] | undefined {
  const isPage = Array.isArray(body) && body.every((event: Partial<TimeLogEvent> | null) => isEvent(event));
  return isPage ? (body as TimeLogEvent[]) : undefined;
}

function isEvent(event: Partial<TimeLogEvent> | null): boolean {
  return typeof event?.id === 'string' && typeof event.data === 'object';
}
