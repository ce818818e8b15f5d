import { type CanActivate, type ExceptionFilter, Module } from '@nestjs/common';
import {
  AUTH_OPTIONS,
  type BearerAuthOptions,
  HOST_ACCESS,
  HOST_GUARD,
  type HostAccess,
} from '../../auth/src/index.js';
import { HOST_FILTER } from '../../errors/src/index.js';
import { SOURCE_OF_EVENTS } from '../../../src/feed/index.js';
import {
  PREPARE_ROUTES,
  type PrepareRoutes,
  TIME_LOG_OPTIONS,
  TIME_LOG_PARTS,
  TimeLogAttributes,
} from '../../../src/time-log/index.js';
import { disableRoutes } from './routes/enabled-routes.js';
import {
  describeController,
  HOST_DOCUMENT,
  type HostDocument,
  SECURITY_SCHEME,
} from './routes/host-document.js';
import { RouteCheck } from './routes/route-check.js';
import { HOST_PARTS } from './time-log-core.module.js';
import { ConfigurableTimeLogModule, type TimeLogModuleOptions } from './time-log.options.js';

/**
 * Time logs over HTTP, with everything in TimeLogCoreModule. It needs the same, and BearerAuthModule unless `forRoot`
 * gets a guard or a caller.
 */
@Module({
  imports: HOST_PARTS.imports,
  controllers: TIME_LOG_PARTS.controllers,
  providers: [
    ...HOST_PARTS.providers,
    RouteCheck,
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
    {
      provide: PREPARE_ROUTES,
      inject: [HOST_DOCUMENT, TIME_LOG_OPTIONS],
      useFactory: prepareRoutes,
    },
  ],
  exports: [...HOST_PARTS.exports, HOST_ACCESS],
})
export class TimeLogModule extends ConfigurableTimeLogModule {}

function hostAccess({ caller }: TimeLogModuleOptions, guard?: CanActivate): HostAccess | undefined {
  return guard || caller ? { guard, caller } : undefined;
}

function hostDocument(
  { openApi = {}, attributes }: TimeLogModuleOptions,
  source: string,
  { filters }: TimeLogAttributes,
  access?: HostAccess,
  filter?: ExceptionFilter,
  auth?: BearerAuthOptions,
): HostDocument | false {
  if (openApi === false) return false;
  const { securityScheme = SECURITY_SCHEME, rateLimit = access === undefined && auth?.admit !== undefined } =
    openApi;
  const [hasRateLimit, hasFilter] = [rateLimit, filter !== undefined];
  return { securityScheme, hasRateLimit, hasFilter, source, attributes, filters };
}

/** Returns a function that disables and describes routes. */
function prepareRoutes(document: HostDocument | false, { routes = {} }: TimeLogModuleOptions): PrepareRoutes {
  return (controller) => {
    disableRoutes(controller, routes);
    if (document) describeController(document, controller);
  };
}
