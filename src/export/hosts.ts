/* The public names for host applications. The index is for internal modules and may change with them. */

export { ExportService } from './application/export.service.js';
export { type ExportFormat } from './domain/export-format.js';
export { type ExportedLogs } from './domain/export.repository.js';
