import {
  type CanActivate,
  ConfigurableModuleBuilder,
  type DynamicModule,
  type ExceptionFilter,
  type ModuleMetadata,
  type Provider,
  type Type,
} from '@nestjs/common';
import { HOST_FILTER } from '../../libs/errors/src/index.js';
import { type CallerResolver, HOST_GUARD } from '../../libs/auth/src/index.js';
import { databaseProvider, registerEntities } from '../database/index.js';
import { CHOSEN_ROUTES, type ChosenRoutes } from './api/chosen-routes.js';
import { TIME_LOG_HOOKS, type TimeLogHooks } from './application/time-log-hooks.js';
import type { AttributesSchema } from './domain/attributes.js';
import { TimeLogRepository } from './domain/time-log.repository.js';
import { STANDS_ON_OURS } from './infrastructure/schema-check.js';
import { timeLogEntities } from './infrastructure/time-log.entities.js';
import { TypeOrmTimeLogRepository } from './infrastructure/typeorm-time-log.repository.js';
import type { limitsOf } from './time-log.limits.js';

/** What a host may choose for time logs without HTTP. */
export interface TimeLogCoreOptions {
  /** Limits other than `TIME_LOG_LIMITS`. */
  readonly limits?: Parameters<typeof limitsOf>[0];
  /**
   * The `source` of events, in the feed and from a relay over the module: a URI-reference (CloudEvents 1.0, section
   * 3.1), `EVENT_SOURCE` unless given. With the id it names an event: never change it.
   */
  readonly source?: string | undefined;
}

/** The default of `source`, wherever the module is mounted. */
export const EVENT_SOURCE = '/api/v1/time-logs';

/** What a host may choose for time logs over HTTP. */
export interface TimeLogOptions extends TimeLogCoreOptions {
  /**
   * Finds the caller of a request or message, where the host's own guards have let it pass: `guard`, or those of the
   * whole app. It stands in the place of our guard; the scopes of the routes are `time-logs:read`,
   * `time-logs:write` and `time-logs:correct`.
   */
  readonly caller?: CallerResolver | undefined;
  /** What the OpenAPI document of the app says of our routes; `false`: the app makes no document. */
  readonly openApi?:
    | false
    | {
        /** The name of the security scheme of callers; `bearer` unless given. */
        readonly securityScheme?: string | undefined;
        /** Whether requests are limited (`429`). By default if BearerAuthModule is asked and has `admit`. */
        readonly rateLimit?: boolean | undefined;
      }
    | undefined;
}

/** What must be known before any provider is made. */
interface CoreExtras {
  /** The name of the DataSource that keeps time logs. */
  readonly dataSource?: string | undefined;
  /**
   * The form of `attributes`, which a log then has beside its own values: a Standard Schema, such as one of zod. It may
   * be asynchronous, and decides also what a log gets that is sent without them.
   */
  readonly attributes?: AttributesSchema | undefined;
  /** What is asked before a log is recorded, corrected or deleted, and done in its transaction. */
  readonly hooks?: Type<TimeLogHooks> | TimeLogHooks | undefined;
  /** Providers that replace ours: of `TimeLogRepository`, `TotalsRepository`, `FeedRepository`, `TimeLogIds` or `WRITE_LIMITS`. */
  readonly adapters?: readonly Provider[] | undefined;
  /** What classes of the host need that stand here: hooks, adapters, guard and filter. */
  readonly imports?: ModuleMetadata['imports'] | undefined;
}

interface Extras extends CoreExtras {
  /** The host's guard, in the place of ours. It is asked about requests, and about messages (`context.getType()`). */
  readonly guard?: Type<CanActivate> | CanActivate | undefined;
  /**
   * The host's filter, in the place of ours. A refusal reaches it as an HttpException, with the DomainError as cause.
   */
  readonly filter?: Type<ExceptionFilter> | ExceptionFilter | undefined;
  /** Which routes are left out. */
  readonly routes?: ChosenRoutes | undefined;
}

/** What `TimeLogModule.forRoot` takes. */
export type TimeLogModuleOptions = TimeLogOptions & Extras;

/** TimeLogOptions, also for a TimeLogCoreModule. */
export const TIME_LOG_OPTIONS = Symbol.for('time-logs.TIME_LOG_OPTIONS');

/** The schema of attributes, where a host has given one. */
export const ATTRIBUTES_SCHEMA = Symbol.for('time-logs.ATTRIBUTES_SCHEMA');

const builder = <Options>() =>
  new ConfigurableModuleBuilder<Options>({ optionsInjectionToken: TIME_LOG_OPTIONS }).setClassMethodName(
    'forRoot',
  );

/** Nest keeps those out of the options that are named here. */
const CORE_EXTRAS: CoreExtras = {
  dataSource: undefined,
  attributes: undefined,
  hooks: undefined,
  adapters: undefined,
  imports: undefined,
};

export const { ConfigurableModuleClass: ConfigurableTimeLogCoreModule } = builder<TimeLogCoreOptions>()
  .setExtras<CoreExtras>(CORE_EXTRAS, withExtras)
  .build();

export const { ConfigurableModuleClass: ConfigurableTimeLogModule } = builder<TimeLogOptions>()
  .setExtras<Extras>(
    { ...CORE_EXTRAS, guard: undefined, filter: undefined, routes: undefined },
    (definition, { guard, filter, routes, ...extras }) =>
      withExtras(
        withProviders(definition, [
          ...chosen(HOST_GUARD, guard),
          ...chosen(HOST_FILTER, filter),
          ...chosen(CHOSEN_ROUTES, routes),
        ]),
        extras,
      ),
  )
  .build();

/** A module over one DataSource, which knows our entities from then on if it loads entities by itself. */
function withExtras(
  definition: DynamicModule,
  { dataSource, attributes, hooks, adapters = [], imports = definition.imports ?? [] }: CoreExtras,
): DynamicModule {
  const stores = adapters.filter((adapter) => 'provide' in adapter && adapter.provide === TimeLogRepository);
  const isStoredHere = stores.length === 0 || stores.some(standsOnOurs);
  if (isStoredHere) registerEntities(timeLogEntities, dataSource);
  return withProviders({ ...definition, imports }, [
    ...(dataSource === undefined ? [] : [databaseProvider(dataSource)]),
    // A schema may be a function.
    ...(attributes === undefined ? [] : [{ provide: ATTRIBUTES_SCHEMA, useValue: attributes }]),
    ...chosen(TIME_LOG_HOOKS, hooks),
    ...(stores.length > 0 && isStoredHere ? [{ provide: STANDS_ON_OURS, useValue: true }] : []),
    // Of several providers with one token Nest takes the last.
    ...adapters,
  ]);
}

/** Whether an adapter of a host injects ours, and so keeps logs where ours does. */
function standsOnOurs(adapter: Provider): boolean {
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

function chosen(token: symbol, given: Type | object | undefined): Provider[] {
  if (given === undefined) return [];
  return [
    typeof given === 'function'
      ? { provide: token, useClass: given as Type }
      : { provide: token, useValue: given },
  ];
}
