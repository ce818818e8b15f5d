export { type ExportedLogs, ExportService } from './application/export.service.js';
export {
  CSV_COLUMNS,
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportRequest,
  type LogsOfMoment,
} from './domain/export.repository.js';
export { TypeOrmExportRepository } from './infrastructure/typeorm-export.repository.js';
export { EXPORT } from './export.providers.js';
