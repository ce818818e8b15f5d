import { Rule } from '../../../libs/strict-request/src/index.js';
import { TimeLogFilterDto } from '../../time-log/api/time-log-filter.dto.js';
import { type ExportFormat, formatFault } from '../domain/export-format.js';

/** The query of an export, as text. Error messages follow the order of these fields. */
export class ExportTimeLogsDto extends TimeLogFilterDto {
  @Rule(formatFault)
  format: ExportFormat = 'csv';
}
