import type { CanActivate, ExceptionFilter, ModuleMetadata, Type } from '@nestjs/common';
import type { AttributesSchema } from '../attributes/index.js';
import type { CallerResolver } from '../../libs/auth/src/index.js';
import type { AttributeType, EnabledRoutes, TimeLogOptions } from '../time-log/index.js';
import type { TimeLogHooks } from './hooks/time-log-hooks.js';

/** An object, or a class that Nest instantiates. */
type Part<T> = T | Type<T>;

/** The options that a factory may return. */
export interface TimeLogFactoryOptions extends TimeLogOptions {
  /**
   * The schema of `attributes`, which adds them to logs: a Standard Schema, such as one of zod. It may be
   * asynchronous, and also decides about missing attributes.
   */
  readonly attributes?: AttributesSchema | undefined;
  /**
   * Returns the caller of a request or message that the guards of the host have allowed: `guard`, or those of the
   * app. It replaces our guard. The scopes of the routes are `time-logs:read`, `time-logs:write` and
   * `time-logs:correct`.
   */
  readonly caller?: CallerResolver | undefined;
}

/** The options that Nest needs before it calls a factory. */
export interface TimeLogModuleParts {
  /** The name of the DataSource that stores time logs. */
  readonly dataSource?: string | undefined;
  /** A guard that replaces ours, for requests and for messages (see `context.getType()`). */
  readonly guard?: Part<CanActivate> | undefined;
  /** A filter that replaces ours. It gets errors as HttpException, with the DomainError as cause. */
  readonly filter?: Part<ExceptionFilter> | undefined;
  /**
   * The attributes by which logs can be filtered, and callers bound, with their types; `strings` is an array of
   * strings. The default is the properties of the JSON Schema that the schema gives.
   */
  readonly filters?: Readonly<Record<string, AttributeType>> | undefined;
  /** The hooks that run before a log is recorded, corrected or deleted, and in the same transaction. */
  readonly hooks?: Part<TimeLogHooks> | undefined;
  /** The modules that the hooks, guard and filter need. */
  readonly imports?: ModuleMetadata['imports'];
  /** Whether all modules of the app can inject the services. */
  readonly isGlobal?: boolean | undefined;
  /** The capabilities without routes: `{ correct: false }`. */
  readonly routes?: EnabledRoutes | undefined;
}

/** The result of a factory: it cannot return the options that Nest needs before. */
export type FactoryResult = TimeLogFactoryOptions & { readonly [Name in keyof TimeLogModuleParts]?: never };

/** The options of `TimeLogModule.forRoot`. */
export type TimeLogModuleOptions = TimeLogFactoryOptions & TimeLogModuleParts;
