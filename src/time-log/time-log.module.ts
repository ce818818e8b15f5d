import { type DynamicModule, Module, type ModuleMetadata, type Provider } from '@nestjs/common';
import { REQUEST_RULES, type RequestRules } from '../../libs/strict-request/src/index.js';
import { DatabaseModule } from '../database/index.js';
import { ExportController } from '../export/api/export.controller.js';
import { EXPORT } from '../export/export.providers.js';
import { FeedController } from '../feed/api/feed.controller.js';
import { FEED } from '../feed/feed.providers.js';
import { TotalsController } from '../totals/api/totals.controller.js';
import { TOTALS } from '../totals/totals.providers.js';
import { TimeLogController } from './api/time-log.controller.js';
import { TimeLogService } from './application/time-log.service.js';
import { TimeLogAttributes } from './domain/attributes.js';
import { TimeLogIds } from './domain/time-log-ids.js';
import { TimeLogRepository } from './domain/time-log.repository.js';
import { SchemaCheck } from './infrastructure/schema-check.js';
import { TimeLogMeasures } from './infrastructure/time-log.measures.js';
import {
  TypeOrmTimeLogRepository,
  WRITE_LIMITS,
  type WriteLimits,
} from './infrastructure/typeorm-time-log.repository.js';
import { UuidV7TimeLogIds } from './infrastructure/uuid-v7-time-log-ids.js';
import { limitsOf } from './time-log.limits.js';
import { TIME_LOG_OPTIONS, type TimeLogOptions } from './time-log.options.js';
import { LargeLists } from './api/large-lists.js';

/**
 * The parts of TimeLogModule, for modules that replace some of them. Its type names no controller: the types of
 * those import express, which a host may lack.
 */
export const TIME_LOG_PARTS: Required<ModuleMetadata> = {
  imports: [DatabaseModule],
  // Express tries routes in this order: totals, events and exports must come before the route of an id.
  controllers: [TotalsController, FeedController, ExportController, TimeLogController],
  providers: [
    TimeLogService,
    TimeLogAttributes,
    TypeOrmTimeLogRepository,
    { provide: TimeLogRepository, useExisting: TypeOrmTimeLogRepository },
    { provide: TimeLogIds, useFactory: () => new UuidV7TimeLogIds() },
    TimeLogMeasures,
    SchemaCheck,
    { provide: TIME_LOG_OPTIONS, useValue: {} },
    {
      provide: WRITE_LIMITS,
      inject: [TIME_LOG_OPTIONS],
      useFactory: ({ limits }: TimeLogOptions): WriteLimits => {
        const { writeQueue, deadline, keyLifetime } = limitsOf(limits);
        return { queue: writeQueue, wait: deadline, keyLifetime };
      },
    },
    {
      provide: REQUEST_RULES,
      inject: [TIME_LOG_OPTIONS],
      useFactory: ({ limits }: TimeLogOptions): RequestRules => limitsOf(limits),
    },
    {
      provide: LargeLists,
      inject: [REQUEST_RULES, TimeLogAttributes],
      useFactory: ({ deadline }: RequestRules, { areKnown }: TimeLogAttributes) =>
        new LargeLists(deadline, areKnown),
    },
    ...TOTALS.providers,
    ...FEED.providers,
    ...EXPORT.providers,
  ],
  exports: [
    TimeLogService,
    TimeLogRepository,
    TypeOrmTimeLogRepository,
    REQUEST_RULES,
    LargeLists,
    ...TOTALS.exports,
    ...FEED.exports,
    ...EXPORT.exports,
  ],
};

/**
 * Time logs over HTTP. It needs a DataSource with `timeLogEntities`, and BearerAuthModule. The module of the host
 * kit has the same name, and more options.
 */
@Module(TIME_LOG_PARTS)
export class TimeLogModule {
  /** The providers replace those of the module, such as that of attributes. */
  static forRoot(options: TimeLogOptions, providers: readonly Provider[] = []): DynamicModule {
    return {
      module: TimeLogModule,
      providers: [{ provide: TIME_LOG_OPTIONS, useValue: options }, ...providers],
    };
  }
}
