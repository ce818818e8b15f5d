import { type Fault, faultOf } from '../../../libs/errors/src/domain-error.js';

/** All formats. */
export const EXPORT_FORMATS = ['csv', 'ndjson'] as const;

/** The format of an export: CSV (RFC 4180), or one JSON object on each line. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Returns the fault of an unknown format, or undefined. */
export function formatFault(value: unknown): Fault | undefined {
  if ((EXPORT_FORMATS as readonly unknown[]).includes(value)) return undefined;
  return faultOf('format', value, 'choice', 'must be csv or ndjson', { values: EXPORT_FORMATS });
}

/** The columns of CSV. A deployment whose logs have attributes has these after them, as JSON. */
export const CSV_COLUMNS = ['id', 'projectId', 'date', 'duration', 'description', 'createdAt'] as const;
