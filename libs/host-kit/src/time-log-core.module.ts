import { Module, type ModuleMetadata } from '@nestjs/common';
import { attributeProviders, hostFilters } from '../../attributes/src/index.js';
import { Database } from '../../../src/database/index.js';
import {
  type RecordOptions,
  TIME_LOG_OPTIONS,
  TIME_LOG_PARTS,
  TimeLogAttributes,
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
    ...attributeProviders({
      inject: [TIME_LOG_OPTIONS],
      useFactory: ({ attributes: schema, filters }: TimeLogCoreOptions) => {
        if (schema)
          return { schema, filters: filters ? new Map(Object.entries(filters)) : hostFilters(schema) };
        if (filters)
          throw new Error('filters need the option attributes: pass a schema with these attributes');
        return undefined;
      },
    }),
    {
      provide: WRAP_WRITES,
      inject: [
        { token: TIME_LOG_HOOKS, optional: true },
        TypeOrmTimeLogRepository,
        WRITE_LIMITS,
        TimeLogAttributes,
      ],
      useFactory: (
        hooks: TimeLogHooks | BatchedTimeLogHooks | undefined,
        timeLogs: TypeOrmTimeLogRepository,
        limits: WriteLimits,
        { areKnown }: TimeLogAttributes,
      ) => {
        if (!hooks) return undefined;
        const shared = hooks.batched && hooks.within ? new SharedCreates(timeLogs, hooks, limits) : undefined;
        if (shared) timeLogs.queues.push(shared.queue);
        return (writes: TimeLogWrites, call: RecordOptions) =>
          new HookedWrites(writes, timeLogs, hooks, call, areKnown, shared);
      },
    },
    {
      provide: TypeOrmTimeLogRepository,
      inject: [{ token: Database, optional: true }, WRITE_LIMITS, TimeLogAttributes],
      useFactory: (database: Database | undefined, limits: WriteLimits, attributes: TimeLogAttributes) =>
        new TypeOrmTimeLogRepository(database ?? throwMissingDataSource(), limits, attributes),
    },
  ],
  exports: [...TIME_LOG_PARTS.exports, TimeLogHealth],
} satisfies ModuleMetadata;

/**
 * Time logs without HTTP, for workers. It needs a `connection` or a DataSource with `timeLogEntities`.
 */
@Module(HOST_PARTS)
export class TimeLogCoreModule extends ConfigurableTimeLogCoreModule {}

function throwMissingDataSource(): never {
  throw new Error(
    'time logs have no DataSource: import TypeOrmModule.forRoot(…), and if it has a name, pass that to TimeLogModule.forRoot({ dataSource }); or pass connection: { url }',
  );
}
