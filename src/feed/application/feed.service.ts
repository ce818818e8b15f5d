import { DomainError } from '../../../libs/errors/src/domain-error.js';
import type { CallOptions } from '../../time-log/application/call-options.js';
import { ALL_PROJECTS } from '../../time-log/domain/project-access.js';
import type { FeedRepository } from '../domain/feed.repository.js';
import {
  FEED_NEEDS_ALL_PROJECTS,
  type FeedPlace,
  parseEventId,
  type TimeLogEvent,
} from '../domain/time-log-event.js';

/** The feed of changes, for HTTP and the code of a host. */
export class FeedService {
  constructor(private readonly repository: FeedRepository) {}

  /**
   * Returns the next events after the one with an id, or from the start, oldest first. Throws DomainError
   * VALIDATION_ERROR if the id is malformed, FORBIDDEN if the caller is bound to projects, GONE if the feed
   * no longer reaches back to the event, or SERVICE_UNAVAILABLE.
   */
  async events(
    lastEventId: string | undefined,
    limit: number,
    options: CallOptions = {},
  ): Promise<readonly TimeLogEvent[]> {
    return this.repository.eventsAfter(feedPlaceOf(lastEventId, options), limit);
  }

  /**
   * Returns a lower bound for the bytes of these events, which is cheaper than reading them; undefined if the
   * store has none. Throws like `events`.
   */
  async weighEvents(
    lastEventId: string | undefined,
    limit: number,
    options: CallOptions = {},
  ): Promise<number | undefined> {
    return this.repository.weighEvents?.(feedPlaceOf(lastEventId, options), limit);
  }
}

/** Returns the place after an event. Rejects callers that are bound to projects: the feed has the logs of all. */
function feedPlaceOf(
  lastEventId: string | undefined,
  { access = ALL_PROJECTS }: CallOptions,
): FeedPlace | undefined {
  const place = lastEventId === undefined ? undefined : parseEventId(lastEventId);
  if (access === ALL_PROJECTS) return place;
  throw new DomainError('FORBIDDEN', FEED_NEEDS_ALL_PROJECTS);
}
