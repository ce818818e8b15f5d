/* The public names for host applications. The index is for internal modules and may change with them. */

export { type ExportedLogs, ExportService } from './application/export.service.js';
export { type ExportFormat } from './domain/export-format.js';
