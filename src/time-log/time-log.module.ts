import { type CanActivate, type DynamicModule, Module, type Provider } from '@nestjs/common';
import { HOST_ACCESS, HOST_GUARD, type HostAccess } from '../../libs/auth/src/index.js';
import { ExpressOnly } from './api/express-only.js';
import { TimeLogController } from './api/time-log.controller.js';
import { CORE } from './time-log-core.module.js';
import { ConfigurableTimeLogModule, TIME_LOG_OPTIONS, type TimeLogOptions } from './time-log.options.js';

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
  /**
   * The module with adapters of a host: `{ provide: TimeLogRepository, useClass: … }`, `TimeLogIds` or `WRITE_LIMITS`.
   */
  static withAdapters(...adapters: Provider[]): DynamicModule {
    // If several providers have the same token, Nest takes the last.
    return { module: TimeLogModule, providers: adapters };
  }
}
