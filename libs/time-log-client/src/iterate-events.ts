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

/** A page of the feed. */
export interface EventPage {
  readonly events: readonly TimeLogEvent[];
  /** The place after which the next page starts. */
  readonly next: string | undefined;
  /** Whether the service says that there was nothing more to read. */
  readonly isLast: boolean;
}

export interface FeedReader {
  /** Requests the next events after a place. */
  readonly readPage: (place: string | undefined) => Promise<EventPage>;
  /** The maximum number of events of a page. */
  readonly pageSize: number;
  /** The milliseconds between requests at the end of the feed. Undefined to stop there. */
  readonly wait: number | undefined;
  /** Waits some milliseconds, unless the call is aborted before. The next request then rejects. */
  readonly pause: (milliseconds: number) => Promise<unknown>;
}

/** Yields the pages of the feed after a place, in order. A page of some projects may be empty before the end. */
export async function* iterateEventPages(
  { readPage, pageSize, wait, pause }: FeedReader,
  after: string | undefined,
): AsyncGenerator<EventPage, void, undefined> {
  for (let place = after; ;) {
    const page = await readPage(place);
    yield page;
    const last = page.events.at(-1)?.id ?? place;
    place = page.next ?? last;
    // A short page that leads further than its last event has only stopped early.
    const isEnd = page.isLast || (page.events.length < pageSize && place === last);
    if (!isEnd) continue;
    if (wait === undefined) return;
    await pause(wait);
  }
}

/** Yields the events of the feed after a place. */
export async function* iterateEvents(
  feed: FeedReader,
  after: string | undefined,
): AsyncGenerator<TimeLogEvent, void, undefined> {
  for await (const { events } of iterateEventPages(feed, after)) yield* events;
}

/**
 * Applies the events of the feed to a copy of the logs, and then yields each. If the feed no longer
 * reaches back to the last place, it empties the copy and starts from the beginning.
 */
export async function* followEvents(
  feed: FeedReader,
  copy: Map<string, RecordedTimeLog>,
  after: string | undefined,
): AsyncGenerator<TimeLogEvent, void, undefined> {
  for (let place = after; ;) {
    try {
      for await (const { events, next } of iterateEventPages(feed, place)) {
        for (const event of events) {
          apply(event, copy);
          place = event.id;
          yield event;
        }
        place = next ?? place;
      }
      return;
    } catch (error) {
      if (place === undefined || !isGone(error)) throw error;
      copy.clear();
      place = undefined;
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

/** Returns the page in a response; undefined if it is another response. */
export function parseEventPage(body: unknown, { headers }: Response): EventPage | undefined {
  const isPage = Array.isArray(body) && body.every((event: Partial<TimeLogEvent> | null) => isEvent(event));
  const link = headers.get('link') ?? '';
  // Without it, a short page of some projects would look like the end of the feed.
  if (!isPage || !link.includes('rel="next"')) return undefined;
  const [, next] = /<\?(?:[^>]*&)?lastEventId=([\w-]+)[^>]*>; rel="next"/.exec(link) ?? [];
  return { events: body as TimeLogEvent[], next, isLast: link.includes('rel="last"') };
}

function isEvent(event: Partial<TimeLogEvent> | null): boolean {
  const texts: unknown[] = [event?.id, event?.type, event?.data?.id];
  return texts.every((text) => typeof text === 'string');
}
