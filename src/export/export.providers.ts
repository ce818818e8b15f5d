import { Injectable, type ModuleMetadata } from '@nestjs/common';
import { type Meter, MetricsSource } from '../../libs/measures/src/index.js';
import { ExportController } from './api/export.controller.js';
import { AttributeRules } from '../time-log/domain/attribute-rules.js';
import { TypeOrmTimeLogRepository } from '../time-log/infrastructure/typeorm-time-log.repository.js';
import { TypeOrmExportRepository } from './infrastructure/typeorm-export.repository.js';
import { ExportService } from './application/export.service.js';
import { ExportRepository } from './domain/export.repository.js';

/** Measures the running exports: each has a connection of the pool. */
@Injectable()
class ExportMeasures extends MetricsSource {
  constructor(private readonly repository: TypeOrmExportRepository) {
    super();
  }

  override registerMetrics(meter: Meter): void {
    meter.gauge('time_log_exports_running', 'Running exports.', () => this.repository.runningExports);
  }
}

/** The controller and the providers of exports. */
export const EXPORT: Required<Pick<ModuleMetadata, 'controllers' | 'providers' | 'exports'>> = {
  controllers: [ExportController],
  providers: [
    {
      provide: TypeOrmExportRepository,
      inject: [TypeOrmTimeLogRepository],
      useFactory: (logs: TypeOrmTimeLogRepository) => new TypeOrmExportRepository(logs),
    },
    { provide: ExportRepository, useExisting: TypeOrmExportRepository },
    {
      provide: ExportService,
      inject: [ExportRepository, AttributeRules],
      useFactory: (repository: ExportRepository, rules: AttributeRules) =>
        new ExportService(repository, rules),
    },
    ExportMeasures,
  ],
  exports: [ExportRepository, ExportService],
};
