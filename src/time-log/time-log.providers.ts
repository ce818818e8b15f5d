import type { ModuleMetadata } from '@nestjs/common';
import {
  ADDED_MEMBER,
  type AddedMember,
  REQUEST_RULES,
  type RequestRules,
} from '../../libs/request-state/src/index.js';
import { EXPORT } from '../export/index.js';
import { FEED } from '../feed/index.js';
import { TOTALS } from '../totals/index.js';
import { TimeLogService } from './application/time-log.service.js';
import { AttributeRules } from './domain/attribute-rules.js';
import { TimeLogIds } from './domain/time-log-ids.js';
import { TimeLogRepository } from './domain/time-log.repository.js';
import { SchemaCheck } from './infrastructure/schema-check.js';
import { TimeLogMeasures } from './infrastructure/time-log.measures.js';
import { TypeOrmTimeLogRepository } from './infrastructure/typeorm-time-log.repository.js';
import { UuidV7TimeLogIds } from './infrastructure/uuid-v7-time-log-ids.js';
import { limitsOf } from './time-log.limits.js';
import { TIME_LOG_OPTIONS, type TimeLogOptions } from './time-log.options.js';
import { LargeLists } from './api/responses.js';
import { BatchLimit } from './api/time-log.controllers.js';

/**
 * The providers of time logs, totals, the feed and exports. They need a Database, TIME_LOG_OPTIONS and the providers of
 * attributes.
 */
export const TIME_LOGS = {
  providers: [
    TimeLogService,
    TypeOrmTimeLogRepository,
    { provide: TimeLogRepository, useExisting: TypeOrmTimeLogRepository },
    { provide: TimeLogIds, useFactory: () => new UuidV7TimeLogIds() },
    TimeLogMeasures,
    SchemaCheck,
    {
      provide: REQUEST_RULES,
      inject: [TIME_LOG_OPTIONS, { token: ADDED_MEMBER, optional: true }],
      useFactory: ({ limits }: TimeLogOptions, addedMember?: AddedMember): RequestRules => ({
        ...limitsOf(limits),
        addedMember,
      }),
    },
    {
      provide: BatchLimit,
      inject: [REQUEST_RULES],
      useFactory: ({ deadline }: RequestRules) => new BatchLimit(deadline),
    },
    {
      provide: LargeLists,
      inject: [REQUEST_RULES, AttributeRules],
      useFactory: ({ deadline }: RequestRules, { haveAttributes }: AttributeRules) =>
        new LargeLists(deadline, haveAttributes),
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
} satisfies ModuleMetadata;
