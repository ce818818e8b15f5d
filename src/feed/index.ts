export { FeedService } from './application/feed.service.js';
export { type Backlog, FeedRepository } from './domain/feed.repository.js';
export { type FeedCursor, parseEventId, TimeLogEvent } from './domain/time-log-event.js';
export { keepTimeLogPositions, unreachedTimeLogPosition } from './infrastructure/keep-time-log-positions.js';
export { TimeLogDeletions } from './infrastructure/time-log-deletions.js';
export { TypeOrmFeedRepository } from './infrastructure/typeorm-feed.repository.js';
export { type CloudEvent, cloudEventOf, SOURCE_OF_EVENTS } from './api/cloud-event.js';
export { FEED } from './feed.providers.js';
