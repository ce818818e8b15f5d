import { CSV_COLUMNS, type ExportFormat } from '../domain/export-format.js';
import { SEPARATOR } from './export-sql.js';

/** Joins the parts of a row. The attributes are JSON of JavaScript, or empty. */
const LINES: Readonly<Record<ExportFormat, (parts: readonly string[], attributes: string) => string>> = {
  csv: ([line], attributes) =>
    `${JSON.parse(line!) as string},${attributes.includes('"') ? `"${attributes.replaceAll('"', '""')}"` : attributes}`,
  ndjson: ([start, , end], attributes) =>
    attributes === '' ? start! + end! : `${start},"attributes":${attributes}${end}`,
};

/**
 * Yields the lines of logs with attributes. PostgreSQL writes JSON with other spaces and numbers, and with members in
 * another order.
 */
export async function* withAttributes(
  rows: AsyncIterable<Uint8Array>,
  format: ExportFormat,
): AsyncGenerator<Uint8Array, undefined> {
  const lineOf = LINES[format];
  const decoder = new TextDecoder();
  // Until the first rows an export can fail with an error response.
  let text = format === 'csv' ? `${CSV_COLUMNS.join(',')},attributes\n` : '';
  let rest = '';
  for await (const bytes of rows) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const parts = line.split(SEPARATOR);
      const stored = parts[1]!;
      text += `${lineOf(parts, stored === '' ? '' : JSON.stringify(JSON.parse(stored)))}\n`;
    }
    if (text !== '') yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}
