import type { ModuleMetadata } from '@nestjs/common';
import { FeedController } from './api/feed.controller.js';
import { TypeOrmTimeLogRepository } from '../time-log/infrastructure/typeorm-time-log.repository.js';
import { TIME_LOG_OPTIONS, type TimeLogOptions } from '../time-log/time-log.options.js';
import { FeedService } from './application/feed.service.js';
import { FeedRepository } from './domain/feed.repository.js';
import { TypeOrmFeedRepository } from './infrastructure/typeorm-feed.repository.js';
import { SOURCE_OF_EVENTS, requireEventSource } from './api/cloud-event.js';

/** The controller and the providers of the feed. */
export const FEED: Required<Pick<ModuleMetadata, 'controllers' | 'providers' | 'exports'>> = {
  controllers: [FeedController],
  providers: [
    {
      provide: FeedRepository,
      inject: [TypeOrmTimeLogRepository],
      useFactory: (logs: TypeOrmTimeLogRepository) => new TypeOrmFeedRepository(logs),
    },
    {
      provide: FeedService,
      inject: [FeedRepository],
      useFactory: (repository: FeedRepository) => new FeedService(repository),
    },
    {
      provide: SOURCE_OF_EVENTS,
      inject: [TIME_LOG_OPTIONS],
      useFactory: ({ source }: TimeLogOptions) => requireEventSource(source),
    },
  ],
  exports: [FeedRepository, FeedService, SOURCE_OF_EVENTS],
};
