import type { FeedPlace, TimeLogEvent } from './time-log-event.js';

/** The events after a place in the feed, including those that consumers cannot read yet. */
export interface Backlog {
  readonly events: number;
  /** The time of the first of them. */
  readonly oldest: Date | undefined;
}

/**
 * The port to the store of events. All methods throw DomainError SERVICE_UNAVAILABLE if it is unavailable. An
 * adapter that removes the records of deletions throws DomainError GONE for a place before them.
 */
export abstract class FeedRepository {
  /**
   * Returns up to `limit` events after a place, or from the start, oldest first. A consumer that continues
   * after the last one gets every log once, in whatever order transactions commit.
   */
  abstract eventsAfter(place: FeedPlace | undefined, limit: number): Promise<readonly TimeLogEvent[]>;

  /** Returns the number of events after a place; it counts no more than `limit`. */
  abstract backlog(place: FeedPlace, limit: number): Promise<Backlog>;

  /**
   * Returns the bytes of the texts of the next events, which is cheaper than reading them. It is optional:
   * without it a page is read even if it does not fit into memory limits.
   */
  weighEvents?(place: FeedPlace | undefined, limit: number): Promise<number>;
}
