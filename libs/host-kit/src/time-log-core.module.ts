import { Logger, Module, type ModuleMetadata } from '@nestjs/common';
import {
  type ExtraField,
  MAX_JSON_DEPTH,
  REQUEST_RULES,
  type RequestRules,
} from '../../strict-request/src/index.js';
import { SchemaAttributes } from '../../attributes/src/index.js';
import { Database } from '../../../src/database/index.js';
import {
  CreateTimeLogDto,
  limitsOf,
  type RecordOptions,
  TIME_LOG_OPTIONS,
  TIME_LOG_PARTS,
  TimeLogAttributes,
  TimeLogRepository,
  type TimeLogWrites,
  TypeOrmTimeLogRepository,
  WRAP_WRITES,
  WRITE_LIMITS,
  type WriteLimits,
} from '../../../src/time-log/index.js';
import { HookedWrites } from './hooks/hooked-writes.js';
import { SharedCreates } from './hooks/shared-creates.js';
import { type BatchedTimeLogHooks, TIME_LOG_HOOKS, type TimeLogHooks } from './hooks/time-log-hooks.js';
import { TimeLogHealth } from './time-log-health.js';
import { ConfigurableTimeLogCoreModule, type TimeLogCoreOptions } from './time-log.options.js';

/** The parts of both modules for hosts. A host may have attributes and hooks, and may lack a DataSource. */
export const HOST_PARTS = {
  imports: TIME_LOG_PARTS.imports,
  // Nest uses the last of several providers with one token.
  providers: [
    ...TIME_LOG_PARTS.providers,
    TimeLogHealth,
    {
      provide: TimeLogAttributes,
      inject: [TIME_LOG_OPTIONS],
      useFactory: ({ attributes: schema, limits }: TimeLogCoreOptions) => {
        if (schema === undefined) return new TimeLogAttributes();
        // The body around them is one level.
        const bounds = { depth: MAX_JSON_DEPTH - 1, bytes: limitsOf(limits).bodyLimit };
        return new SchemaAttributes(schema, bounds, (fault) =>
          new Logger(TimeLogAttributes.name).error(fault),
        );
      },
    },
    {
      provide: REQUEST_RULES,
      inject: [TIME_LOG_OPTIONS, TimeLogAttributes],
      useFactory: ({ limits }: TimeLogCoreOptions, attributes: TimeLogAttributes): RequestRules => {
        const rule: ExtraField['rule'] = (value, caller) => attributes.check(value, caller?.attributes);
        const extraField: ExtraField = { dto: CreateTimeLogDto, name: 'attributes', rule };
        return { ...limitsOf(limits), ...(attributes.areKnown && { extraField }) };
      },
    },
    {
      provide: WRAP_WRITES,
      inject: [{ token: TIME_LOG_HOOKS, optional: true }, TimeLogRepository, WRITE_LIMITS, TimeLogAttributes],
      useFactory: (
        hooks: TimeLogHooks | BatchedTimeLogHooks | undefined,
        timeLogs: TimeLogRepository,
        limits: WriteLimits,
        { areKnown }: TimeLogAttributes,
      ) => {
        if (!hooks) return undefined;
        const shared = hooks.batched && hooks.within ? new SharedCreates(timeLogs, hooks, limits) : undefined;
        if (shared && timeLogs instanceof TypeOrmTimeLogRepository) timeLogs.queues.push(shared.queue);
        return (writes: TimeLogWrites, call: RecordOptions) =>
          new HookedWrites(writes, timeLogs, hooks, call, areKnown, shared);
      },
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
  ],
  exports: [...TIME_LOG_PARTS.exports, TimeLogHealth],
} satisfies ModuleMetadata;

/**
 * Time logs without HTTP, for workers and tests. It needs a `connection` or a DataSource with `timeLogEntities`, unless
 * an adapter or `overrideProvider(TimeLogRepository)` replaces the repository.
 */
@Module(HOST_PARTS)
export class TimeLogCoreModule extends ConfigurableTimeLogCoreModule {}

function throwMissingDataSource(): never {
  throw new Error(
    'time logs have no DataSource: import TypeOrmModule.forRoot(…), and if it has a name, pass that to TimeLogModule.forRoot({ dataSource }); or pass connection: { url }',
  );
}
