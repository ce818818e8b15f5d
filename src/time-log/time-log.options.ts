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
import { type CallerOf, HOST_GUARD } from '../../libs/auth/src/index.js';
import { databaseOf, registerEntities } from '../database/index.js';
import { timeLogEntities } from './infrastructure/time-log.entities.js';
import type { limitsOf } from './time-log.limits.js';

/** What a host may choose for time logs without HTTP. */
export interface TimeLogCoreOptions {
  /** Limits other than `TIME_LOG_LIMITS`. */
  readonly limits?: Parameters<typeof limitsOf>[0];
}

/** What a host may choose for time logs over HTTP. */
export interface TimeLogOptions extends TimeLogCoreOptions {
  /**
   * Finds the caller of a request or message, where the host's own guards have let it pass: `guard`, or those of the
   * whole app. It stands in the place of our guard; the scopes of the routes are `time-logs:read`,
   * `time-logs:write` and `time-logs:correct`.
   */
  readonly principal?: CallerOf | undefined;
}

/** What must be known before any provider is made. */
interface CoreExtras {
  /** The name of the DataSource that keeps time logs. */
  readonly dataSource?: string | undefined;
}

interface Extras extends CoreExtras {
  /** The host's guard, in the place of ours. It is asked about requests, and about messages (`context.getType()`). */
  readonly guard?: Type<CanActivate> | CanActivate | undefined;
  /**
   * The host's filter, in the place of ours. A refusal reaches it as an HttpException, with the DomainError as cause.
   */
  readonly filter?: Type<ExceptionFilter> | ExceptionFilter | undefined;
  /** What the guard and the filter need. */
  readonly imports?: ModuleMetadata['imports'] | undefined;
}

/** TimeLogOptions, also for a TimeLogCoreModule. */
export const TIME_LOG_OPTIONS = Symbol.for('time-logs.TIME_LOG_OPTIONS');

const builder = <Options>() =>
  new ConfigurableModuleBuilder<Options>({ optionsInjectionToken: TIME_LOG_OPTIONS }).setClassMethodName(
    'forRoot',
  );

export const { ConfigurableModuleClass: ConfigurableTimeLogCoreModule } = builder<TimeLogCoreOptions>()
  .setExtras<CoreExtras>({ dataSource: undefined }, withDataSource)
  .build();

export const { ConfigurableModuleClass: ConfigurableTimeLogModule } = builder<TimeLogOptions>()
  .setExtras<Extras>(
    { dataSource: undefined, guard: undefined, filter: undefined, imports: undefined },
    (definition, { guard, filter, imports, ...extras }) =>
      withDataSource(
        {
          ...definition,
          imports: imports ?? definition.imports ?? [],
          providers: [
            ...(definition.providers ?? []),
            ...chosen(HOST_GUARD, guard),
            ...chosen(HOST_FILTER, filter),
          ],
        },
        extras,
      ),
  )
  .build();

/** A module over one DataSource, which knows our entities from then on if it loads entities by itself. */
function withDataSource(definition: DynamicModule, { dataSource }: CoreExtras): DynamicModule {
  registerEntities(timeLogEntities, dataSource);
  if (dataSource === undefined) return definition;
  return { ...definition, providers: [...(definition.providers ?? []), databaseOf(dataSource)] };
}

function chosen(token: symbol, given: Type | object | undefined): Provider[] {
  if (given === undefined) return [];
  return [
    typeof given === 'function'
      ? { provide: token, useClass: given as Type }
      : { provide: token, useValue: given },
  ];
}
