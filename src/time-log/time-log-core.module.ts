import { Module, type ModuleMetadata } from '@nestjs/common';
import { REQUEST_BOUNDS, type RequestBounds } from '../../libs/strict-request/src/index.js';
import { Database, DatabaseModule } from '../database/index.js';
import { TimeLogService } from './application/time-log.service.js';
import { TimeLogUseCases } from './application/time-log.use-cases.js';
import { TimeLogIds } from './domain/time-log-ids.js';
import { TimeLogRepository } from './domain/time-log.repository.js';
import { TimeLogMeasures } from './infrastructure/time-log.measures.js';
import { SchemaCheck } from './infrastructure/schema-check.js';
import {
  TypeOrmTimeLogRepository,
  WRITE_LIMITS,
  type WriteLimits,
} from './infrastructure/typeorm-time-log.repository.js';
import { randomBytesInAdvance, UuidV7TimeLogIds } from './infrastructure/uuid-v7-time-log-ids.js';
import { limitsOf } from './time-log.limits.js';
import { SOURCE_OF_EVENTS, sourceOf } from './wire/cloud-event.js';
import { LargeAnswers } from './wire/large-answers.js';
import {
  ConfigurableTimeLogCoreModule,
  TIME_LOG_OPTIONS,
  type TimeLogCoreOptions,
} from './time-log.options.js';

/** Service, port, adapter, ids and limits: what both modules have. */
export const CORE = {
  imports: [DatabaseModule],
  providers: [
    TimeLogService,
    TimeLogUseCases,
    // One for requests and messages: they share the memory.
    { provide: LargeAnswers, useFactory: () => new LargeAnswers() },
    TimeLogMeasures,
    SchemaCheck,
    { provide: TIME_LOG_OPTIONS, useValue: {} },
    {
      provide: WRITE_LIMITS,
      inject: [TIME_LOG_OPTIONS],
      useFactory: ({ limits }: TimeLogCoreOptions): WriteLimits => {
        const { writeQueue, deadline } = limitsOf(limits);
        return { queue: writeQueue, wait: deadline };
      },
    },
    {
      provide: REQUEST_BOUNDS,
      inject: [TIME_LOG_OPTIONS],
      useFactory: ({ limits }: TimeLogCoreOptions): RequestBounds => limitsOf(limits),
    },
    {
      provide: SOURCE_OF_EVENTS,
      inject: [TIME_LOG_OPTIONS],
      useFactory: ({ source }: TimeLogCoreOptions) => sourceOf(source),
    },
    {
      provide: TypeOrmTimeLogRepository,
      inject: [{ token: Database, optional: true }, WRITE_LIMITS],
      useFactory: (database: Database | undefined, limits: WriteLimits) =>
        database && new TypeOrmTimeLogRepository(database, limits),
    },
    {
      provide: TimeLogRepository,
      inject: [{ token: TypeOrmTimeLogRepository, optional: true }],
      useFactory: (ours: TypeOrmTimeLogRepository | undefined) => ours ?? withoutDataSource(),
    },
    {
      provide: TimeLogIds,
      useFactory: () => new UuidV7TimeLogIds(() => Date.now(), randomBytesInAdvance()),
    },
  ],
  exports: [
    TimeLogService,
    TimeLogUseCases,
    TimeLogRepository,
    TypeOrmTimeLogRepository,
    REQUEST_BOUNDS,
    LargeAnswers,
    SOURCE_OF_EVENTS,
  ],
} satisfies ModuleMetadata;

/**
 * Time logs without HTTP, for workers and tests: the service and its port. Needs a DataSource with `timeLogEntities`,
 * unless `overrideProvider(TimeLogRepository)` or an adapter stands in its place.
 */
@Module(CORE)
export class TimeLogCoreModule extends ConfigurableTimeLogCoreModule {}

function withoutDataSource(): never {
  throw new Error(
    'time logs have no DataSource: import TypeOrmModule.forRoot(…), and where it has a name give it to TimeLogModule.forRoot({ dataSource })',
  );
}
