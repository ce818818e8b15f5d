import {
  type CanActivate,
  type DynamicModule,
  type ExceptionFilter,
  Module,
  type Provider,
} from '@nestjs/common';
import {
  AUTH_OPTIONS,
  type BearerAuthOptions,
  HOST_ACCESS,
  HOST_GUARD,
  type HostAccess,
} from '../../libs/auth/src/index.js';
import { HOST_FILTER } from '../../libs/errors/src/index.js';
import { FeedController } from '../feed/api/feed.controller.js';
import { SOURCE_OF_EVENTS } from '../feed/index.js';
import { TotalsController } from '../totals/api/totals.controller.js';
import { RequireExpress } from './api/require-express.js';
import { HOST_DOCUMENT, type HostDocument, SECURITY_SCHEME } from './api/host-document.js';
import { DuplicateRouteCheck } from './api/duplicate-route-check.js';
import { TimeLogController } from './api/time-log.controller.js';
import { TimeLogAttributes } from './domain/attributes.js';
import { CORE } from './time-log-core.module.js';
import {
  ConfigurableTimeLogModule,
  TIME_LOG_OPTIONS,
  type TimeLogModuleOptions,
  type TimeLogOptions,
} from './time-log.options.js';

/**
 * Time logs over HTTP, with everything in TimeLogCoreModule. It needs the same, and BearerAuthModule unless `forRoot`
 * gets a guard or a caller.
 */
@Module({
  imports: CORE.imports,
  // Express tries routes in this order: totals and events must come before the route of an id.
  controllers: [TotalsController, FeedController, TimeLogController],
  providers: [
    ...CORE.providers,
    RequireExpress,
    DuplicateRouteCheck,
    {
      provide: HOST_ACCESS,
      inject: [TIME_LOG_OPTIONS, { token: HOST_GUARD, optional: true }],
      useFactory: hostAccess,
    },
    {
      provide: HOST_DOCUMENT,
      inject: [
        TIME_LOG_OPTIONS,
        SOURCE_OF_EVENTS,
        TimeLogAttributes,
        { token: HOST_ACCESS, optional: true },
        { token: HOST_FILTER, optional: true },
        { token: AUTH_OPTIONS, optional: true },
      ],
      useFactory: hostDocument,
    },
  ],
  exports: [...CORE.exports, HOST_ACCESS],
})
export class TimeLogModule extends ConfigurableTimeLogModule {
  /** Calls `forRoot` with adapters: one argument each, or an array followed by the other options. */
  static withAdapters(...adapters: Provider[]): DynamicModule;
  static withAdapters(adapters: readonly Provider[], options?: TimeLogModuleOptions): DynamicModule;
  static withAdapters(first: Provider | readonly Provider[], ...rest: unknown[]): DynamicModule {
    return Array.isArray(first)
      ? this.forRoot({ ...(rest[0] as TimeLogModuleOptions | undefined), adapters: first as Provider[] })
      : this.forRoot({ adapters: [first as Provider, ...(rest as Provider[])] });
  }
}

/** Throws an Error for the former name of an option: without it a caller would get access to all projects. */
function hostAccess(options: TimeLogOptions, guard?: CanActivate): HostAccess | undefined {
  if ('principal' in options) throw new Error('the option principal of TimeLogModule is called caller now');
  const { caller } = options;
  return guard || caller ? { guard, caller } : undefined;
}

function hostDocument(
  { openApi = {} }: TimeLogOptions,
  source: string,
  { schema: attributes }: TimeLogAttributes,
  access?: HostAccess,
  filter?: ExceptionFilter,
  auth?: BearerAuthOptions,
): HostDocument | false {
  if (openApi === false) return false;
  const { securityScheme = SECURITY_SCHEME, rateLimit = access === undefined && auth?.admit !== undefined } =
    openApi;
  return { securityScheme, hasRateLimit: rateLimit, hasFilter: filter !== undefined, source, attributes };
}
