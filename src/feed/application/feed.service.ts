import { DomainError } from '../../../libs/errors/src/domain-error.js';
import { accessOf, type CallOptions } from '../../time-log/application/call.js';
import { ALL_PROJECTS, type ProjectAccess } from '../../time-log/domain/project-access.js';
import type { FeedRepository } from '../domain/feed.repository.js';
import { FEED_REFUSED, type FeedPlace, placeOf, type TimeLogEvent } from '../domain/time-log-event.js';

/** The feed of changes, for HTTP and the code of a host. */
export class FeedService {
  constructor(private readonly repository: FeedRepository) {}

  /**
   * Returns the next events after the one with an id, or from the beginning, oldest first. Throws DomainError
   * VALIDATION_ERROR if no event can have this id, FORBIDDEN for callers who are bound to projects, GONE if the feed no
   * longer reaches back to it, or SERVICE_UNAVAILABLE.
   */
  async events(
    lastEventId: string | undefined,
    limit: number,
    options: CallOptions = {},
  ): Promise<readonly TimeLogEvent[]> {
    return this.repository.eventsAfter(feedPlaceOf(lastEventId, accessOf(options)), limit);
  }

  /**
   * Returns at least how many bytes these events have, for less than it costs to read them; undefined if the store does
   * not know. Throws like `events`.
   */
  async weighEvents(
    lastEventId: string | undefined,
    limit: number,
    options: CallOptions = {},
  ): Promise<number | undefined> {
    return this.repository.weighEvents?.(feedPlaceOf(lastEventId, accessOf(options)), limit);
  }
}

/** The place after an event. The feed has the logs of all projects, so it refuses callers who are bound to some. */
function feedPlaceOf(lastEventId: string | undefined, access: ProjectAccess): FeedPlace | undefined {
  const place = lastEventId === undefined ? undefined : placeOf(lastEventId);
  if (access === ALL_PROJECTS) return place;
  throw new DomainError('FORBIDDEN', FEED_REFUSED);
}
