import { Logger, Module, type ModuleMetadata } from '@nestjs/common';
import { MAX_JSON_DEPTH, REQUEST_RULES, type RequestRules } from '../../libs/strict-request/src/index.js';
import { Database, DatabaseModule } from '../database/index.js';
import { FEED } from '../feed/feed.providers.js';
import { TOTALS } from '../totals/totals.providers.js';
import { TimeLogService } from './application/time-log.service.js';
import { type AttributesSchema, TimeLogAttributes } from './domain/attributes.js';
import { TimeLogIds } from './domain/time-log-ids.js';
import { TimeLogRepository } from './domain/time-log.repository.js';
import { TimeLogMeasures } from './infrastructure/time-log.measures.js';
import { SchemaCheck } from './infrastructure/schema-check.js';
import {
  TypeOrmTimeLogRepository,
  WRITE_LIMITS,
  type WriteLimits,
} from './infrastructure/typeorm-time-log.repository.js';
import { bufferedRandomBytes, UuidV7TimeLogIds } from './infrastructure/uuid-v7-time-log-ids.js';
import { limitsOf, QUEUE_SHARE } from './time-log.limits.js';
import { attributesField } from './wire/attributes-field.js';
import { LargeResponseLimiter } from './wire/large-response-limiter.js';
import {
  ATTRIBUTES_SCHEMA,
  ConfigurableTimeLogCoreModule,
  TIME_LOG_OPTIONS,
  type TimeLogCoreOptions,
} from './time-log.options.js';

/** The imports, providers and exports of both modules. */
export const CORE = {
  imports: [DatabaseModule],
  providers: [
    TimeLogService,
    // Requests and messages share one limiter.
    {
      provide: LargeResponseLimiter,
      inject: [REQUEST_RULES],
      useFactory: ({ deadline }: RequestRules) =>
        new LargeResponseLimiter({ queueMs: QUEUE_SHARE * deadline }),
    },
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
      provide: REQUEST_RULES,
      inject: [TIME_LOG_OPTIONS, TimeLogAttributes],
      useFactory: ({ limits }: TimeLogCoreOptions, attributes: TimeLogAttributes): RequestRules => {
        const { bodyLimit, deadline } = limitsOf(limits);
        return { bodyLimit, deadline, extraField: attributesField(attributes) };
      },
    },
    {
      provide: TimeLogAttributes,
      inject: [{ token: ATTRIBUTES_SCHEMA, optional: true }, TIME_LOG_OPTIONS],
      useFactory: (schema: AttributesSchema | undefined, { limits }: TimeLogCoreOptions) =>
        // The body around them is one level.
        new TimeLogAttributes(
          schema,
          { depth: MAX_JSON_DEPTH - 1, bytes: limitsOf(limits).bodyLimit },
          (fault) => new Logger(TimeLogAttributes.name).error(fault),
        ),
    },
    {
      provide: TypeOrmTimeLogRepository,
      inject: [{ token: Database, optional: true }, WRITE_LIMITS, TimeLogAttributes],
      useFactory: (database: Database | undefined, limits: WriteLimits, attributes: TimeLogAttributes) =>
        database && new TypeOrmTimeLogRepository(database, limits, attributes),
    },
    {
      provide: TimeLogRepository,
      inject: [{ token: TypeOrmTimeLogRepository, optional: true }],
      useFactory: (repository: TypeOrmTimeLogRepository | undefined) =>
        repository ?? throwMissingDataSource(),
    },
    {
      provide: TimeLogIds,
      useFactory: () => new UuidV7TimeLogIds(() => Date.now(), bufferedRandomBytes()),
    },
    ...TOTALS.providers,
    ...FEED.providers,
  ],
  exports: [
    TimeLogService,
    TimeLogRepository,
    TypeOrmTimeLogRepository,
    TimeLogAttributes,
    REQUEST_RULES,
    LargeResponseLimiter,
    ...TOTALS.exports,
    ...FEED.exports,
  ],
} satisfies ModuleMetadata;

/**
 * Time logs without HTTP, for workers and tests. It needs a DataSource with `timeLogEntities`, unless an adapter or
 * `overrideProvider(TimeLogRepository)` replaces the repository.
 */
@Module(CORE)
export class TimeLogCoreModule extends ConfigurableTimeLogCoreModule {}

function throwMissingDataSource(): never {
  throw new Error(
    'time logs have no DataSource: import TypeOrmModule.forRoot(…), and if it has a name, pass that to TimeLogModule.forRoot({ dataSource })',
  );
}
