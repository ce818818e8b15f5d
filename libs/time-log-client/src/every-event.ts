import type { components } from './openapi.js';
import { TimeLogError } from './time-log.error.js';
import type { RecordedTimeLog, WithAttributes } from './time-logs.js';

/** A log was recorded, corrected or deleted, as CloudEvents 1.0 has it. */
export type TimeLogEvent = OfAnyHost<components['schemas']['TimeLogEvent']>;

/** A host of the module may give its events another source, and keep attributes with its logs. */
type OfAnyHost<E extends { data: object }> = E extends unknown
  ? Omit<E, 'source' | 'data'> & { source: string; data: E['data'] & WithAttributesOf<E['data']> }
  : never;
type WithAttributesOf<Data> = Data extends { createdAt: string } ? WithAttributes : unknown;

export interface FollowedFeed {
  /** Asks the service for the next events after the one with an id. */
  readonly readPage: (lastEventId: string | undefined) => Promise<readonly TimeLogEvent[]>;
  /** The most events of a page. */
  readonly pageSize: number;
  /** Waits before the service is asked again for what is new. Without it the feed is left at its end. */
  readonly pause?: (() => Promise<unknown>) | undefined;
}

/** Yields the events of the feed, each once, in its order, from behind the one with an id. */
export async function* everyEvent(
  { readPage, pageSize, pause }: FollowedFeed,
  after: string | undefined,
): AsyncGenerator<TimeLogEvent, void, undefined> {
  for (let last = after; ;) {
    const events = await readPage(last);
    yield* events;
    last = events.at(-1)?.id ?? last;
    if (events.length >= pageSize) continue;
    if (!pause) return;
    await pause();
  }
}

/**
 * Applies the events of the feed to a copy of the logs, and yields each when that is done. Where the feed no longer
 * reaches back to the last one, it empties the copy and begins anew.
 */
export async function* everyChange(
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
      if (last === undefined || !(error instanceof TimeLogError && error.code === 'GONE')) throw error;
      copy.clear();
      last = undefined;
    }
  }
}

/** What a later version tells beside is not for a copy. */
function apply(event: TimeLogEvent, copy: Map<string, RecordedTimeLog>): void {
  switch (event.type) {
    case 'time-log.created':
    case 'time-log.corrected':
      copy.set(event.data.id, event.data);
      return;
    case 'time-log.deleted':
      copy.delete(event.data.id);
  }
}

/** The events in the body of a success; undefined where the body is another one. */
export function eventsIn(body: unknown): readonly TimeLogEvent[] | undefined {
  const isPage = Array.isArray(body) && body.every((event: Partial<TimeLogEvent> | null) => isEvent(event));
  return isPage ? (body as TimeLogEvent[]) : undefined;
}

function isEvent(event: Partial<TimeLogEvent> | null): boolean {
  return typeof event?.id === 'string' && typeof event.data === 'object';
}
