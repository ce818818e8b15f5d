/* The public names for host applications. The index is for internal modules and may change with them. */

export { FeedService } from './application/feed.service.js';
export { TimeLogEvent } from './domain/time-log-event.js';
export { keepTimeLogPositions } from './infrastructure/keep-time-log-positions.js';
export { TimeLogDeletions } from './infrastructure/time-log-deletions.js';
export { type CloudEvent } from './api/cloud-event.js';
