import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { REQUEST_BOUNDS } from '../../libs/strict-request/src/index.js';
import { DatabaseModule } from '../database/index.js';
import { BigLists } from './api/big-lists.js';
import { TimeLogController } from './api/time-log.controller.js';
import { TimeLogService } from './application/time-log.service.js';
import { TimeLogIds } from './domain/time-log-ids.js';
import { TimeLogRepository } from './domain/time-log.repository.js';
import { TimeLogMeasures } from './infrastructure/time-log.measures.js';
import { TypeOrmTimeLogRepository } from './infrastructure/typeorm-time-log.repository.js';
import { randomBytesInAdvance, UuidV7TimeLogIds } from './infrastructure/uuid-v7-time-log-ids.js';
import { TIME_LOG_LIMITS } from './time-log.limits.js';

/**
 * Time logs: recorded and listed over HTTP, and through the exported service. Needs AuthModule, and a DataSource with
 * `timeLogEntities`.
 */
@Module({
  imports: [DatabaseModule],
  controllers: [TimeLogController],
  providers: [
    TimeLogService,
    BigLists,
    TypeOrmTimeLogRepository,
    TimeLogMeasures,
    { provide: TimeLogRepository, useExisting: TypeOrmTimeLogRepository },
    {
      provide: TimeLogIds,
      useFactory: () => new UuidV7TimeLogIds(() => Date.now(), randomBytesInAdvance()),
    },
    { provide: REQUEST_BOUNDS, useValue: TIME_LOG_LIMITS },
  ],
  exports: [TimeLogService, TimeLogRepository, TypeOrmTimeLogRepository],
})
export class TimeLogModule {
  /**
   * The module with adapters of a host: `{ provide: TimeLogRepository, useClass: … }`, `TimeLogIds` or `WRITE_LIMITS`.
   */
  static withAdapters(...adapters: Provider[]): DynamicModule {
    // If several providers have the same token, Nest takes the last.
    return { module: TimeLogModule, providers: adapters };
  }
}
