import { DomainError, throwFaults } from '../../../libs/errors/src/domain-error.js';
import { AttributeRules } from '../../time-log/domain/attribute-rules.js';
import { accessTo, type CallOptions } from '../../time-log/application/access.js';
import { pageLimitFault } from '../../time-log/domain/time-log-query.js';
import { requireProjectIds } from '../../time-log/domain/time-log.rules.js';
import type { FeedPage, FeedRepository } from '../domain/feed.repository.js';
import { lastEventIdFault, parseEventId, type TimeLogEvent } from '../domain/time-log-event.js';

/** The message for a caller whose logs the feed cannot select. */
const BOUND_TO_ATTRIBUTES = 'the feed needs a token without bound attributes';

const NO_ATTRIBUTES = new AttributeRules();

/** The options of a page of the feed. */
export interface FeedOptions extends CallOptions {
  /** The projects whose events to return; by default all that the caller may access. */
  readonly projectIds?: readonly string[] | undefined;
}

/** The feed of changes, for HTTP and the code of a host. */
export class FeedService {
  constructor(private readonly repository: FeedRepository) {}

  /**
   * Returns the next events after the one with an id, or from the start, oldest first; none at the end of the
   * feed. Throws DomainError VALIDATION_ERROR, FORBIDDEN if the caller may not access a
   * project, GONE if the feed no longer reaches back to the event, or SERVICE_UNAVAILABLE.
   */
  async events(
    lastEventId: string | undefined,
    limit: number,
    options: FeedOptions = {},
  ): Promise<readonly TimeLogEvent[]> {
    for (let cursor = lastEventId; ;) {
      const { events, next, isLast } = await this.page(cursor, limit, options);
      if (events.length > 0 || isLast) return events;
      cursor = next;
    }
  }

  /**
   * Returns the next events after a cursor, which is the id of an event or `next` of an earlier page, or from the
   * start. A page of some projects may have few events or none before the end. Throws like `events`.
   */
  async page(lastEventId: string | undefined, limit: number, options: FeedOptions = {}): Promise<FeedPage> {
    const projectIds = projectsOf(lastEventId, limit, options);
    if (projectIds?.length === 0) return { events: [], next: lastEventId, isLast: true };
    if (projectIds) return this.repository.eventsOfProjects(projectIds, lastEventId, limit);
    const cursor = lastEventId === undefined ? undefined : parseEventId(lastEventId);
    const events = await this.repository.eventsAfter(cursor, limit);
    return { events, next: events.at(-1)?.id ?? lastEventId, isLast: events.length < limit };
  }
}

/** Checks a call, and returns the projects whose events it may and wants to read; undefined for all. */
function projectsOf(
  lastEventId: string | undefined,
  limit: number,
  options: FeedOptions,
): readonly string[] | undefined {
  throwFaults([lastEventId === undefined ? undefined : lastEventIdFault(lastEventId), pageLimitFault(limit)]);
  const projectIds = options.projectIds && requireProjectIds(options.projectIds);
  if (options.caller?.attributes !== undefined) throw new DomainError('FORBIDDEN', BOUND_TO_ATTRIBUTES);
  const { projects } = accessTo(projectIds, options, NO_ATTRIBUTES);
  return projectIds ?? projects;
}
