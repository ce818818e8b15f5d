import type { FeedCursor, TimeLogEvent } from './time-log-event.js';

/** The events after a cursor in the feed, including those that consumers cannot read yet. */
export interface Backlog {
  readonly events: number;
  /** The time of the first of them. */
  readonly oldest: Date | undefined;
}

/** A page of the feed. */
export interface FeedPage {
  readonly events: readonly TimeLogEvent[];
  /** The cursor after which the next page starts, in the form of an event id; undefined for the beginning. */
  readonly next: string | undefined;
  /** Whether there was nothing more to read. */
  readonly isLast: boolean;
}

/**
 * The port to the store of events. All methods throw DomainError SERVICE_UNAVAILABLE if it is unavailable, and
 * GONE for a cursor before deletions that were forgotten.
 */
export abstract class FeedRepository {
  /**
   * Returns up to `limit` events after a cursor, or from the start, oldest first. A consumer that continues
   * after the last one gets every log once, in whatever order transactions commit.
   */
  abstract eventsAfter(cursor: FeedCursor | undefined, limit: number): Promise<readonly TimeLogEvent[]>;

  /**
   * Returns the next events of some projects, and where to continue. A log that leaves them is a deletion, with
   * the project that it has left. A page may have fewer events than there are. A cursor is the id of an event
   * or `next` of an earlier page, which must not contain values of other projects: the id of an event, a position
   * with a UUID that is no log, or 64 characters of base64url.
   */
  abstract eventsOfProjects(
    projectIds: readonly string[],
    cursor: string | undefined,
    limit: number,
  ): Promise<FeedPage>;

  /** Returns the number of events after a cursor; it counts no more than `limit`. */
  abstract backlog(cursor: FeedCursor, limit: number): Promise<Backlog>;
}
