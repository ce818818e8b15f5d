import type { FeedPlace, TimeLogEvent } from './time-log-event.js';

/** The events after a place in the feed, including those that readers cannot get yet. */
export interface Backlog {
  readonly events: number;
  /** When the first of them happened. */
  readonly oldest: Date | undefined;
}

/**
 * The port to the store of events. All methods throw DomainError SERVICE_UNAVAILABLE if it is unavailable. An adapter
 * whose deletions can be forgotten throws DomainError GONE for a place before them.
 */
export abstract class FeedRepository {
  /**
   * Returns the next events after a place, or from the beginning, oldest first, and at most `limit`. A reader that
   * continues after the last one gets every log once, in whatever order transactions commit.
   */
  abstract eventsAfter(place: FeedPlace | undefined, limit: number): Promise<readonly TimeLogEvent[]>;

  /** Returns how many events come after a place in the feed; it counts no more than `most`. */
  abstract backlog(place: FeedPlace, most: number): Promise<Backlog>;

  /**
   * Returns how many bytes the texts of the next events have, for less than it costs to read them. An adapter may leave
   * it out: then a page is read even if there is no room for it.
   */
  weighEvents?(place: FeedPlace | undefined, limit: number): Promise<number>;
}
