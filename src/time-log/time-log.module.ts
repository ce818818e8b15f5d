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
import { ExpressOnly } from './api/express-only.js';
import { HOST_DOCUMENT, type HostDocument, SECURITY_SCHEME } from './api/host-document.js';
import { OneOfEachRoute } from './api/one-of-each-route.js';
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
 * Time logs over HTTP, and all that TimeLogCoreModule has. It needs what that needs, and BearerAuthModule unless
 * `forRoot` is given a guard or a caller.
 */
@Module({
  imports: CORE.imports,
  // Express tries routes in this order: those of totals and of the feed come before the route of an id.
  controllers: [TotalsController, FeedController, TimeLogController],
  providers: [
    ...CORE.providers,
    ExpressOnly,
    OneOfEachRoute,
    {
      provide: HOST_ACCESS,
      inject: [TIME_LOG_OPTIONS, { token: HOST_GUARD, optional: true }],
      useFactory: ({ caller }: TimeLogOptions, guard?: CanActivate): HostAccess | undefined =>
        guard || caller ? { guard, caller } : undefined,
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
  /** `forRoot` with these adapters, one by one, or as an array before the other options. */
  static withAdapters(...adapters: Provider[]): DynamicModule;
  static withAdapters(adapters: readonly Provider[], options?: TimeLogModuleOptions): DynamicModule;
  static withAdapters(first: Provider | readonly Provider[], ...rest: unknown[]): DynamicModule {
    return Array.isArray(first)
      ? this.forRoot({ ...(rest[0] as TimeLogModuleOptions | undefined), adapters: first as Provider[] })
      : this.forRoot({ adapters: [first as Provider, ...(rest as Provider[])] });
  }
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
