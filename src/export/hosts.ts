/* The public names for host applications. The index is for internal modules and may change with them. */

export { ExportService } from './application/export.service.js';
