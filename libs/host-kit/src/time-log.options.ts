import {
  type CanActivate,
  ConfigurableModuleBuilder,
  type DynamicModule,
  type ExceptionFilter,
  type ModuleMetadata,
  type Provider,
  type Type,
} from '@nestjs/common';
import { HOST_FILTER } from '../../errors/src/index.js';
import { type CallerResolver, HOST_GUARD } from '../../auth/src/index.js';
import { databaseProvider, registerEntities } from '../../../src/database/index.js';
import {
  TIME_LOG_OPTIONS,
  timeLogEntities,
  type TimeLogOptions,
  TimeLogRepository,
  TypeOrmTimeLogRepository,
  WRAPS_TYPEORM_REPOSITORY,
} from '../../../src/time-log/index.js';
import type { AttributesSchema } from './attributes/schema-attributes.js';
import { TIME_LOG_HOOKS, type TimeLogHooks } from './hooks/time-log-hooks.js';
import { ENABLED_ROUTES, type EnabledRoutes } from './routes/enabled-routes.js';

/** The options of time logs over HTTP. */
export interface HttpOptions extends TimeLogOptions {
  /**
   * Returns the caller of a request or message that the guards of the host have allowed: `guard`, or those of the
   * app. It replaces our guard. The scopes of the routes are `time-logs:read`, `time-logs:write` and
   * `time-logs:correct`.
   */
  readonly caller?: CallerResolver | undefined;
  /** Options for our routes in the OpenAPI document of the app; `false`: the app has no document. */
  readonly openApi?:
    | false
    | {
        /** The name of the security scheme of callers. The default is `bearer`. */
        readonly securityScheme?: string | undefined;
        /** Whether requests are limited (`429`). The default is true if BearerAuthModule is used and has `admit`. */
        readonly rateLimit?: boolean | undefined;
      }
    | undefined;
}

/** The options that decide which providers there are. */
interface CoreExtras {
  /** The name of the DataSource that stores time logs. */
  readonly dataSource?: string | undefined;
  /**
   * The schema of `attributes`, which adds them to logs: a Standard Schema, such as one of zod. It may be
   * asynchronous, and also decides about missing attributes.
   */
  readonly attributes?: AttributesSchema | undefined;
  /** The hooks that run before a log is recorded, corrected or deleted, and in the same transaction. */
  readonly hooks?: Type<TimeLogHooks> | TimeLogHooks | undefined;
  /** Providers that replace ours: of `TimeLogIds` or a repository (logs, totals, feed). */
  readonly adapters?: readonly Provider[] | undefined;
  /** The modules that the hooks, adapters, guard and filter need. */
  readonly imports?: ModuleMetadata['imports'] | undefined;
}

interface Extras extends CoreExtras {
  /** A guard that replaces ours, for requests and for messages (see `context.getType()`). */
  readonly guard?: Type<CanActivate> | CanActivate | undefined;
  /** A filter that replaces ours. It gets errors as HttpException, with the DomainError as cause. */
  readonly filter?: Type<ExceptionFilter> | ExceptionFilter | undefined;
  /** The routes that are disabled. */
  readonly routes?: EnabledRoutes | undefined;
}

/** The options of `TimeLogModule.forRoot`. */
export type TimeLogModuleOptions = HttpOptions & Extras;

/** The injection token of the schema of attributes of a host. */
export const ATTRIBUTES_SCHEMA = Symbol.for('time-logs.ATTRIBUTES_SCHEMA');

const builder = <Options>() =>
  new ConfigurableModuleBuilder<Options>({ optionsInjectionToken: TIME_LOG_OPTIONS }).setClassMethodName(
    'forRoot',
  );

/** The keys that Nest does not pass on as options. */
const CORE_EXTRAS: CoreExtras = {
  dataSource: undefined,
  attributes: undefined,
  hooks: undefined,
  adapters: undefined,
  imports: undefined,
};

export const { ConfigurableModuleClass: ConfigurableTimeLogCoreModule } = builder<TimeLogOptions>()
  .setExtras<CoreExtras>(CORE_EXTRAS, withExtras)
  .build();

export const { ConfigurableModuleClass: ConfigurableTimeLogModule } = builder<HttpOptions>()
  .setExtras<Extras>(
    { ...CORE_EXTRAS, guard: undefined, filter: undefined, routes: undefined },
    (definition, { guard, filter, routes, ...extras }) =>
      withExtras(
        withProviders(definition, [
          ...providerOf(HOST_GUARD, guard),
          ...providerOf(HOST_FILTER, filter),
          ...providerOf(ENABLED_ROUTES, routes),
        ]),
        extras,
      ),
  )
  .build();

/** Adds providers, and registers our entities with the DataSource for `autoLoadEntities`. */
function withExtras(
  definition: DynamicModule,
  { dataSource, attributes, hooks, adapters = [], imports = definition.imports ?? [] }: CoreExtras,
): DynamicModule {
  const stores = adapters.filter((adapter) => 'provide' in adapter && adapter.provide === TimeLogRepository);
  const usesOurTables = stores.length === 0 || stores.some(wrapsOurRepository);
  if (usesOurTables) registerEntities(timeLogEntities, dataSource);
  return withProviders({ ...definition, imports }, [
    ...(dataSource === undefined ? [] : [databaseProvider(dataSource)]),
    // Not `providerOf`, since a schema may be a function.
    ...(attributes === undefined ? [] : [{ provide: ATTRIBUTES_SCHEMA, useValue: attributes }]),
    ...providerOf(TIME_LOG_HOOKS, hooks),
    ...(stores.length > 0 && usesOurTables ? [{ provide: WRAPS_TYPEORM_REPOSITORY, useValue: true }] : []),
    // Nest uses the last of several providers with one token.
    ...adapters,
  ]);
}

/** Returns whether an adapter injects ours, and so stores logs in our tables. */
function wrapsOurRepository(adapter: Provider): boolean {
  if (typeof adapter === 'function') return false;
  const injected: unknown[] =
    'useClass' in adapter
      ? ((Reflect.getMetadata('design:paramtypes', adapter.useClass) as unknown[] | undefined) ?? [])
      : 'inject' in adapter
        ? (adapter.inject ?? [])
        : [];
  return injected.includes(TypeOrmTimeLogRepository);
}

function withProviders(definition: DynamicModule, providers: readonly Provider[]): DynamicModule {
  return { ...definition, providers: [...(definition.providers ?? []), ...providers] };
}

/** Provides an option. A class is also provided as itself, so that tests can override it. */
function providerOf(token: symbol, option: Type | object | undefined): Provider[] {
  if (option === undefined) return [];
  if (typeof option !== 'function') return [{ provide: token, useValue: option }];
  return [option as Type, { provide: token, useExisting: option as Type }];
}
