import { isoText, createdAtOf, type TimeLog } from '../../time-log/domain/time-log.js';
import { CSV_COLUMNS, type ExportFormat } from './export-format.js';

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
