import type { ModuleMetadata } from '@nestjs/common';
import { TimeLogRepository } from '../time-log/domain/time-log.repository.js';
import { TypeOrmTimeLogRepository } from '../time-log/infrastructure/typeorm-time-log.repository.js';
import { TIME_LOG_OPTIONS, type TimeLogOptions } from '../time-log/time-log.options.js';
import { FeedService } from './application/feed.service.js';
import { FeedRepository } from './domain/feed.repository.js';
import { TypeOrmFeedRepository } from './infrastructure/typeorm-feed.repository.js';
import { SOURCE_OF_EVENTS, requireEventSource } from './wire/cloud-event.js';

/** The providers of the feed. Service and port are undefined if the store of time logs has no feed. */
export const FEED = {
  providers: [
    {
      provide: FeedRepository,
      inject: [TimeLogRepository],
      useFactory: (logs: TimeLogRepository & Partial<FeedRepository>): FeedRepository | undefined => {
        if (logs.eventsAfter && logs.backlog) return logs as FeedRepository;
        return logs instanceof TypeOrmTimeLogRepository ? new TypeOrmFeedRepository(logs) : undefined;
      },
    },
    {
      provide: FeedService,
      inject: [{ token: FeedRepository, optional: true }],
      useFactory: (repository?: FeedRepository) => repository && new FeedService(repository),
    },
    {
      provide: SOURCE_OF_EVENTS,
      inject: [TIME_LOG_OPTIONS],
      useFactory: ({ source }: TimeLogOptions) => requireEventSource(source),
    },
  ],
  exports: [FeedRepository, FeedService, SOURCE_OF_EVENTS],
} satisfies ModuleMetadata;
