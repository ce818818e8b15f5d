import type { ModuleMetadata } from '@nestjs/common';
import { TimeLogAttributes } from '../time-log/domain/attributes.js';
import { TypeOrmTimeLogRepository } from '../time-log/infrastructure/typeorm-time-log.repository.js';
import { ExportService } from './application/export.service.js';
import { ExportRepository } from './domain/export.repository.js';
import { ExportMeasures } from './infrastructure/export.measures.js';
import { TypeOrmExportRepository } from './infrastructure/typeorm-export.repository.js';

/** The providers of exports. */
export const EXPORT = {
  providers: [
    {
      provide: TypeOrmExportRepository,
      inject: [TypeOrmTimeLogRepository],
      useFactory: (logs: TypeOrmTimeLogRepository) => new TypeOrmExportRepository(logs),
    },
    { provide: ExportRepository, useExisting: TypeOrmExportRepository },
    {
      provide: ExportService,
      inject: [ExportRepository, TimeLogAttributes],
      useFactory: (repository: ExportRepository, attributes: TimeLogAttributes) =>
        new ExportService(repository, attributes),
    },
    ExportMeasures,
  ],
  exports: [ExportRepository, ExportService],
} satisfies ModuleMetadata;
