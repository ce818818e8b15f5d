import { type CanActivate, type DynamicModule, Module, type Provider } from '@nestjs/common';
import { HOST_ACCESS, HOST_GUARD, type HostAccess } from '../../libs/auth/src/index.js';
import { ExpressOnly } from './api/express-only.js';
import { OneOfEachRoute } from './api/one-of-each-route.js';
import { TimeLogController } from './api/time-log.controller.js';
import { CORE } from './time-log-core.module.js';
import {
  ConfigurableTimeLogModule,
  TIME_LOG_OPTIONS,
  type TimeLogModuleOptions,
  type TimeLogOptions,
} from './time-log.options.js';

/**
 * Time logs over HTTP, and all that TimeLogCoreModule has. Needs what that needs, and AuthModule, unless `forRoot` is
 * given a guard or a principal.
 */
@Module({
  imports: CORE.imports,
  controllers: [TimeLogController],
  providers: [
    ...CORE.providers,
    ExpressOnly,
    OneOfEachRoute,
    {
      provide: HOST_ACCESS,
      inject: [TIME_LOG_OPTIONS, { token: HOST_GUARD, optional: true }],
      useFactory: ({ principal }: TimeLogOptions, guard?: CanActivate): HostAccess | undefined =>
        guard || principal ? { guard, principal } : undefined,
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
