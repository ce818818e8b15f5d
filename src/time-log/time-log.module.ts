import {
  type CanActivate,
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type DynamicModule,
  Inject,
  Module,
  type OnModuleInit,
  Optional,
  type Provider,
  type Type,
} from '@nestjs/common';
import { type AbstractHttpAdapter, HttpAdapterHost, ModuleRef } from '@nestjs/core';
import { HOST_ACCESS, HOST_GUARD, type HostAccess } from '../../libs/auth/src/index.js';
import { HOST_FILTER } from '../../libs/errors/src/index.js';
import { attributeProviders, hostFilters } from '../attributes/index.js';
import { Database, DatabaseModule, databaseProvider, registerEntities } from '../database/index.js';
import { HookedWrites } from '../embedding/hooks/hooked-writes.js';
import type { TimeLogHooks } from '../embedding/hooks/time-log-hooks.js';
import { type OpenApiPaths, openApiPaths } from '../embedding/open-api-paths.js';
import { TimeLogHealth } from '../embedding/time-log-health.js';
import type {
  FactoryResult,
  TimeLogFactoryOptions,
  TimeLogModuleParts,
} from '../embedding/time-log.options.js';
import { WRAP_WRITES, type WrapWrites } from './application/change-options.js';
import { AttributeRules } from './domain/attribute-rules.js';
import { timeLogEntities } from './infrastructure/time-log.entities.js';
import { TypeOrmTimeLogRepository } from './infrastructure/typeorm-time-log.repository.js';
import { TIME_LOG_OPTIONS } from './time-log.options.js';
import { TIME_LOGS } from './time-log.providers.js';
import { enabledCapabilities, type EnabledRoutes, preferOwnPaths } from './time-log.routes.js';

const TIME_LOG_HOOKS = Symbol('TIME_LOG_HOOKS');
const ENABLED_ROUTES = Symbol('ENABLED_ROUTES');

/** The names of the options that Nest needs before it calls a factory. */
const PARTS: { readonly [Name in keyof Required<TimeLogModuleParts>]: undefined } = {
  dataSource: undefined,
  guard: undefined,
  filter: undefined,
  filters: undefined,
  hooks: undefined,
  imports: undefined,
  isGlobal: undefined,
  routes: undefined,
};

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<TimeLogFactoryOptions>({
  optionsInjectionToken: TIME_LOG_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setExtras<TimeLogModuleParts>(PARTS, moduleWith)
  .build();

/**
 * Time logs: their services, and their routes below the path that RouterModule gives it. It needs a DataSource with
 * `timeLogEntities`, and BearerAuthModule unless it gets a guard or a caller.
 */
@Module({})
export class TimeLogModule extends ConfigurableModuleClass implements OnModuleInit {
  constructor(
    @Inject(TIME_LOG_OPTIONS) private readonly options: TimeLogFactoryOptions,
    @Optional() @Inject(ENABLED_ROUTES) private readonly routes: EnabledRoutes = {},
    private readonly attributeRules: AttributeRules,
    private readonly adapterHost: HttpAdapterHost,
  ) {
    super();
  }

  onModuleInit(): void {
    // An app without HTTP has none, or one without a type.
    const adapter = this.adapterHost.httpAdapter as AbstractHttpAdapter | undefined;
    if (adapter?.getType() === 'express') preferOwnPaths(adapter);
  }

  static override forRootAsync(
    options: ConfigurableModuleAsyncOptions<FactoryResult> & TimeLogModuleParts,
  ): DynamicModule {
    return super.forRootAsync(options);
  }

  /**
   * Returns the paths of this module below a prefix, such as `/api/v1`, and their schemas, for the OpenAPI document
   * (3.1) of the app.
   */
  openApiPaths(prefix: string): OpenApiPaths {
    const { filters } = this.attributeRules;
    const { attributes: schema } = this.options;
    const operationIds = enabledCapabilities(this.routes).flatMap((capability) => capability.operationIds);
    return openApiPaths(prefix, operationIds, schema && { schema, filters });
  }
}

function moduleWith(
  definition: DynamicModule,
  { dataSource, guard, filter, filters, hooks, imports = [], isGlobal, routes }: TimeLogModuleParts,
): DynamicModule {
  registerEntities(timeLogEntities, dataSource);
  const isNamed = dataSource !== undefined;
  return {
    ...definition,
    global: isGlobal === true,
    // DatabaseModule logs outages, so all modules share it if they can.
    imports: [...(definition.imports ?? imports), ...(isNamed ? [] : [DatabaseModule])],
    controllers: enabledCapabilities(routes).flatMap(({ controllers }) => controllers),
    providers: [
      ...(definition.providers ?? []),
      ...TIME_LOGS.providers,
      ...attributeProviders({
        inject: [TIME_LOG_OPTIONS],
        useFactory: ({ attributes: schema }: TimeLogFactoryOptions) =>
          schema && { schema, filters: filters ? new Map(Object.entries(filters)) : hostFilters(schema) },
      }),
      TimeLogHealth,
      ...(isNamed ? [databaseProvider(dataSource)] : []),
      ...providersOf(HOST_GUARD, guard),
      ...providersOf(HOST_FILTER, filter),
      ...providersOf(TIME_LOG_HOOKS, hooks),
      { provide: ENABLED_ROUTES, useValue: routes },
      {
        provide: HOST_ACCESS,
        inject: [TIME_LOG_OPTIONS, { token: HOST_GUARD, optional: true }],
        useFactory: hostAccess,
      },
      ...(hooks === undefined
        ? []
        : [
            {
              provide: WRAP_WRITES,
              inject: [ModuleRef, TypeOrmTimeLogRepository, AttributeRules],
              useFactory: wrapWrites,
            },
          ]),
    ],
    exports: [...TIME_LOGS.exports, TimeLogHealth, HOST_ACCESS, ...(isNamed ? [Database] : [DatabaseModule])],
  };
}

/** Provides a part of the host. A class is also provided as itself, so that tests can override it. */
function providersOf(provide: symbol, part: object | Type | undefined): Provider[] {
  if (part === undefined) return [];
  if (typeof part !== 'function') return [{ provide, useValue: part }];
  return [part as Type, { provide, useExisting: part as Type }];
}

function hostAccess({ caller }: TimeLogFactoryOptions, guard?: CanActivate): HostAccess | undefined {
  return guard || caller ? { guard, caller } : undefined;
}

function wrapWrites(app: ModuleRef, timeLogs: TypeOrmTimeLogRepository, rules: AttributeRules): WrapWrites {
  return (store, options) => {
    // Not injected: hooks may inject TimeLogService.
    const hooks = app.get<TimeLogHooks>(TIME_LOG_HOOKS);
    return new HookedWrites(store, timeLogs, hooks, options, rules);
  };
}
