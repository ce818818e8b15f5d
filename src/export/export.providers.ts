import type { ModuleMetadata } from '@nestjs/common';
import { TimeLogAttributes } from '../time-log/domain/attributes.js';
import { TimeLogRepository } from '../time-log/domain/time-log.repository.js';
import { TypeOrmTimeLogRepository } from '../time-log/infrastructure/typeorm-time-log.repository.js';
import { ExportService } from './application/export.service.js';
import { ExportRepository } from './domain/export.repository.js';
import { ExportMeasures } from './infrastructure/export.measures.js';
import { TypeOrmExportRepository } from './infrastructure/typeorm-export.repository.js';

/** The providers of exports. Service and port are undefined if the store of time logs has no exports. */
export const EXPORT = {
  providers: [
    {
      provide: ExportRepository,
      inject: [TimeLogRepository],
      useFactory: (logs: TimeLogRepository & Partial<ExportRepository>): ExportRepository | undefined => {
        if (logs.export) return logs as ExportRepository;
        return logs instanceof TypeOrmTimeLogRepository ? new TypeOrmExportRepository(logs) : undefined;
      },
    },
    {
      provide: ExportService,
      inject: [{ token: ExportRepository, optional: true }, TimeLogAttributes],
      useFactory: (repository: ExportRepository | undefined, attributes: TimeLogAttributes) =>
        repository && new ExportService(repository, attributes),
    },
    ExportMeasures,
  ],
  exports: [ExportRepository, ExportService],
} satisfies ModuleMetadata;
