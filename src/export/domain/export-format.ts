import { type Fault, faultOf } from '../../../libs/errors/src/domain-error.js';
import { isoText, createdAtOf, type TimeLog } from '../../time-log/domain/time-log.js';

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

/** Returns a text as a field of CSV. An empty one has quotes: without them many readers take it for a missing value. */
function quoted(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvLine(log: TimeLog, haveAttributes: boolean): string {
  const { id, projectId, date, duration, description, attributes } = log;
  const line = `${id},${projectId},${date},${duration},${quoted(description)},${isoText(createdAtOf(id))}`;
  if (!haveAttributes) return `${line}\n`;
  return `${line},${attributes === undefined ? '' : quoted(JSON.stringify(attributes))}\n`;
}

/** Yields the bytes of a file with the logs of all pages. Until the first logs an export can fail with an error. */
export async function* linesOf(
  pages: AsyncIterable<readonly TimeLog[]>,
  format: ExportFormat,
  haveAttributes: boolean,
): AsyncGenerator<Uint8Array, undefined> {
  const columns = haveAttributes ? [...CSV_COLUMNS, 'attributes'] : CSV_COLUMNS;
  let text = format === 'csv' ? `${columns.join()}\n` : '';
  for await (const logs of pages) {
    for (const log of logs)
      text += format === 'csv' ? csvLine(log, haveAttributes) : `${JSON.stringify(log)}\n`;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}
