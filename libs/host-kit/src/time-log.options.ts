import {
  type Abstract,
  type CanActivate,
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type DynamicModule,
  type ExceptionFilter,
  type ModuleMetadata,
  type Provider,
  type Type,
} from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { HOST_FILTER } from '../../errors/src/index.js';
import { type CallerResolver, HOST_GUARD } from '../../auth/src/index.js';
import { Database, databaseProvider, registerEntities } from '../../../src/database/index.js';
import {
  type AttributeType,
  limitsOf,
  MIGRATION_ADVICE,
  TIME_LOG_OPTIONS,
  timeLogEntities,
  type TimeLogOptions,
  TimeLogService,
} from '../../../src/time-log/index.js';
import type { AttributesSchema } from '../../attributes/src/index.js';
import { type BatchedTimeLogHooks, TIME_LOG_HOOKS, type TimeLogHooks } from './hooks/time-log-hooks.js';
import { ADVICE, OwnDataSource, type TimeLogConnection } from './own-data-source.js';
import type { EnabledRoutes } from './routes/enabled-routes.js';

/** A class, or the instance that one of `imports` exports. */
type Injected<T> = Type<T> | { readonly useExisting: Type<T> | Abstract<T> | string | symbol };
type Part<T> = T | Injected<T>;

/** Without the signature of `within`, which would hide that of hooks that are not batched. */
type BatchedHooks = Pick<BatchedTimeLogHooks, 'batched' | 'before'> & { readonly within?: object };

/** The options of `TimeLogCoreModule.forRoot`. */
export interface TimeLogCoreOptions extends TimeLogOptions {
  /** The name of the DataSource that stores time logs. */
  readonly dataSource?: string | undefined;
  /** The database of time logs, if the app has no DataSource for them. */
  readonly connection?: TimeLogConnection | undefined;
  /**
   * The schema of `attributes`, which adds them to logs: a Standard Schema, such as one of zod. It may be
   * asynchronous, and also decides about missing attributes.
   */
  readonly attributes?: AttributesSchema | undefined;
  /**
   * The attributes by which logs can be filtered, and callers bound, with their types; `strings` is an array of
   * strings. The default is the properties of the JSON Schema that the schema gives.
   */
  readonly filters?: Readonly<Record<string, AttributeType>> | undefined;
  /** The hooks that run before a log is recorded, corrected or deleted, and in the same transaction. */
  readonly hooks?: Part<TimeLogHooks> | Injected<BatchedTimeLogHooks> | BatchedHooks | undefined;
  /** The modules that the hooks, guard and filter need. */
  readonly imports?: ModuleMetadata['imports'] | undefined;
  /** Whether all modules of the app can inject the services. */
  readonly isGlobal?: boolean | undefined;
}

/** The options of `TimeLogModule.forRoot`. */
export interface TimeLogModuleOptions extends TimeLogCoreOptions {
  /** A guard that replaces ours, for requests and for messages (see `context.getType()`). */
  readonly guard?: Part<CanActivate> | undefined;
  /** A filter that replaces ours. It gets errors as HttpException, with the DomainError as cause. */
  readonly filter?: Part<ExceptionFilter> | undefined;
  /**
   * Returns the caller of a request or message that the guards of the host have allowed: `guard`, or those of the
   * app. It replaces our guard. The scopes of the routes are `time-logs:read`, `time-logs:write` and
   * `time-logs:correct`.
   */
  readonly caller?: CallerResolver | undefined;
  /** The routes that are disabled. */
  readonly routes?: EnabledRoutes | undefined;
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

/** The options that Nest needs before it calls a factory. */
type StaticName = 'dataSource' | 'imports' | 'isGlobal';

/** The options that may be classes. A factory returns instances. */
interface Instances {
  readonly guard?: CanActivate | undefined;
  readonly filter?: ExceptionFilter | undefined;
  readonly hooks?: TimeLogHooks | BatchedHooks | undefined;
}

type FactoryOptions<Options> = Omit<Options, StaticName | keyof Instances> &
  Pick<Instances, keyof Options & keyof Instances>;

/** The class that a module with these options extends. */
interface ConfigurableModule<Options> {
  new (): object;
  forRoot(options?: Options): DynamicModule;
  /** Takes the options from a factory or next to it; classes and the modules to import only next to it. */
  forRootAsync(
    options: ConfigurableModuleAsyncOptions<FactoryOptions<Options>> & Omit<Options, 'imports'>,
  ): DynamicModule;
}

/** Whether a factory may return an option: any value, an instance, or none. */
type Kind = 'value' | 'instance' | 'static';
/** An option: its kind, whether a value is one, and the form of its values. */
type Option = readonly [kind: Kind, isValid: (value: unknown) => boolean, form: string];
type OptionTable = Readonly<Record<string, Option>>;

const isText = (value: unknown) => typeof value === 'string';
const isBoolean = (value: unknown) => typeof value === 'boolean';
const isFunction = (value: unknown) => typeof value === 'function';
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
/** Returns whether a value is an object whose members are valid, unless undefined. */
const isObjectOf = (value: unknown, isValid: (member: unknown, name: string) => boolean) =>
  isObject(value) &&
  Object.entries(value).every(([name, member]) => member === undefined || isValid(member, name));
/** Returns whether a value is a class, an instance with one of these methods, or `useExisting`. */
const isPart = (value: unknown, ...methods: readonly string[]) =>
  isFunction(value) ||
  (isObject(value) &&
    ('useExisting' in value
      ? value.useExisting !== undefined && value.useExisting !== null
      : methods.some((name) => isFunction(value[name]))));
const partForm = (methods: string) =>
  `a class, an object with ${methods}, or { useExisting } with what one of imports exports`;

const CORE_OPTIONS = {
  dataSource: ['static', isText, 'the name of a DataSource'],
  connection: ['value', isObject, 'an object such as { url }'],
  attributes: ['value', isSchema, 'a Standard Schema, such as one of zod'],
  filters: ['value', isFilters, "an object such as { userId: 'string' }"],
  hooks: ['instance', (value) => isPart(value, 'before', 'within'), partForm('before or within')],
  imports: ['static', Array.isArray, 'an array of modules'],
  isGlobal: ['static', isBoolean, 'true or false'],
  source: ['value', isText, 'a URI-reference'],
  limits: [
    'value',
    (value) => isObjectOf(value, isLimit),
    `an object of positive numbers: ${Object.keys(limitsOf()).join(', ')}`,
  ],
} as const satisfies Record<keyof TimeLogCoreOptions, Option>;

const OPTIONS = {
  ...CORE_OPTIONS,
  guard: ['instance', (value) => isPart(value, 'canActivate'), partForm('canActivate')],
  filter: ['instance', (value) => isPart(value, 'catch'), partForm('catch')],
  caller: ['value', isFunction, 'a function that returns the caller'],
  routes: [
    'value',
    (value) => isObjectOf(value, isBoolean),
    'an object of names of routes with true or false',
  ],
  openApi: ['value', (value) => value === false || isObject(value), 'false or an object of options'],
} as const satisfies Record<keyof TimeLogModuleOptions, Option>;

/** The arguments of `forRootAsync` that some versions of Nest pass on as options. */
const FACTORY_ARGUMENTS = ['useFactory', 'useClass', 'useExisting', 'inject', 'provideInjectionTokensFrom'];
/** The injection token of what `forRoot` gets, or of what the factory of `forRootAsync` returns. */
const RETURNED_OPTIONS = Symbol.for('time-logs.RETURNED_OPTIONS');
const TOKENS = { guard: HOST_GUARD, filter: HOST_FILTER, hooks: TIME_LOG_HOOKS };

export const ConfigurableTimeLogCoreModule = configurableModule<TimeLogCoreOptions>(CORE_OPTIONS);
export const ConfigurableTimeLogModule = configurableModule<TimeLogModuleOptions>(OPTIONS);

function configurableModule<Options extends TimeLogCoreOptions>(
  table: OptionTable,
): ConfigurableModule<Options> {
  const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<object>({
    optionsInjectionToken: RETURNED_OPTIONS,
  })
    .setClassMethodName('forRoot')
    .setExtras<object>({}, (definition, passed) => moduleWith(definition, passed, table))
    .build();
  return class extends ConfigurableModuleClass {
    static override forRoot(options = {}): DynamicModule {
      return super.forRoot(options);
    }
  };
}

/** Adds the providers of options, and registers our entities with the DataSource for `autoLoadEntities`. */
function moduleWith(
  definition: DynamicModule,
  passed: TimeLogModuleOptions,
  table: OptionTable,
): DynamicModule {
  checkOptions(definition.module.name, table, passed);
  if (typeof passed.hooks === 'function') requireNoCycle(passed.hooks);
  const { dataSource, connection, imports = definition.imports ?? [], isGlobal } = passed;
  if (!connection) registerEntities(timeLogEntities, dataSource);
  const parts = (['guard', 'filter', 'hooks'] as const).filter((name) => name in table);
  return {
    ...definition,
    imports,
    global: isGlobal === true,
    exports: [Database],
    providers: [
      ...(definition.providers ?? []),
      {
        provide: TIME_LOG_OPTIONS,
        inject: [RETURNED_OPTIONS],
        useFactory: (returned: unknown) => mergedOptions(definition.module.name, table, passed, returned),
      },
      ...databaseProviders(dataSource),
      ...parts.flatMap((name) => providersOf(name, passed[name])),
    ],
  };
}

/** Throws an Error for an unknown option, or a value that an option cannot have. */
function checkOptions(module: string, table: OptionTable, options: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (FACTORY_ARGUMENTS.includes(name)) continue;
    const option = table[name];
    if (option === undefined)
      throw new Error(`${module} has no option "${name}": it takes ${Object.keys(table).join(', ')}`);
    const [, isValid, form] = option;
    if (value !== undefined && !isValid(value)) throw new Error(`${name} of ${module} must be ${form}`);
  }
}

function isSchema(value: unknown): boolean {
  // The schemas of arktype are functions.
  return isFunction((value as Partial<AttributesSchema> | null)?.['~standard']?.validate);
}

function isFilters(value: unknown): boolean {
  return !Array.isArray(value) && isObjectOf(value, isText);
}

function isLimit(value: unknown, name: string): boolean {
  return name in limitsOf() && Number.isFinite(value) && (value as number) > 0;
}

/** Throws an Error if hooks inject TimeLogService, which waits for them: Nest 11 would end without a message. */
function requireNoCycle(hooks: Type<unknown>): void {
  const injected = Reflect.getMetadata('design:paramtypes', hooks) as unknown[] | undefined;
  if (!injected?.includes(TimeLogService)) return;
  throw new Error(
    `${hooks.name} injects TimeLogService, which needs these hooks: inject ModuleRef, and call get(TimeLogService) in the hook`,
  );
}

/** Returns all options. Throws an Error for one that would be ignored. */
function mergedOptions(
  module: string,
  table: OptionTable,
  passed: object,
  returned: unknown,
): TimeLogModuleOptions {
  if (!isObject(returned))
    throw new Error(`the factory of ${module}.forRootAsync must return an object with options`);
  for (const [name, value] of Object.entries(returned)) {
    const here = Reflect.get(passed, name) as unknown;
    // With `forRoot` both are the same.
    if (value === undefined || value === here) continue;
    const place = `pass it next to useFactory of ${module}.forRootAsync`;
    if (here !== undefined)
      throw new Error(`${name} is also returned by the factory of ${module}.forRootAsync: pass it once`);
    const kind = table[name]?.[0];
    if (kind === 'static') throw new Error(`a factory cannot return ${name}: ${place}`);
    if (kind === 'instance' && (!isObject(value) || 'useExisting' in value))
      throw new Error(`a factory cannot return a class or useExisting as ${name}: ${place}`);
  }
  checkOptions(module, table, returned);
  const options: TimeLogModuleOptions = { ...passed, ...returned };
  if (options.connection !== undefined && options.dataSource !== undefined)
    throw new Error(`${module} takes a connection or a dataSource, not both`);
  return options;
}

/** Provides the Database of a DataSource: that of the option `connection`, or the one with this name. */
function databaseProviders(name: string | undefined): Provider[] {
  return [
    {
      provide: OwnDataSource,
      inject: [TIME_LOG_OPTIONS],
      useFactory: ({ connection, limits }: TimeLogCoreOptions) =>
        connection && OwnDataSource.open(connection, limitsOf(limits)),
    },
    {
      provide: MIGRATION_ADVICE,
      inject: [TIME_LOG_OPTIONS],
      useFactory: ({ connection }: TimeLogCoreOptions) => connection && ADVICE,
    },
    {
      provide: Database,
      inject: [OwnDataSource, { token: getDataSourceToken(name), optional: true }],
      useFactory: (own?: OwnDataSource, ofHost?: DataSource) =>
        databaseProvider(name).useFactory(own?.dataSource ?? ofHost),
    },
  ];
}

/** Provides a part of the host. A class is also provided as itself, so that tests can override it. */
function providersOf(name: keyof Instances, part: Part<object> | undefined): Provider[] {
  const provide = TOKENS[name];
  if (typeof part === 'function') return [part as Type, { provide, useExisting: part as Type }];
  if (part && 'useExisting' in part) return [{ provide, useExisting: part.useExisting }];
  const useFactory = (options: Instances) => options[name];
  return [{ provide, inject: [TIME_LOG_OPTIONS], useFactory }];
}
