import { expect } from '@jest/globals';
import {
  CSV_COLUMNS,
  type ExportedLogs,
  type ExportFormat,
  type ExportRepository,
} from '../../src/export/index.js';
import { logResponse } from '../../src/time-log/index.js';
import { ALL_PROJECTS, Period, type TimeLog } from '../support/storage.js';

/** Returns the text of an export. */
export async function textOf({ content }: ExportedLogs): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** Compares the export of a project with the bodies of all its logs, in the order of creation. */
export async function compareExport(
  exports: ExportRepository,
  projectId: string,
  logs: readonly TimeLog[],
  format: ExportFormat,
  columns: readonly string[] = CSV_COLUMNS,
): Promise<void> {
  const filter = { projectIds: [projectId], period: Period.of() };
  const [text, total] = await exports.export({ filter, format, access: ALL_PROJECTS }, async (exported) => [
    await textOf(exported),
    exported.total,
  ]);
  expect(total).toBe(logs.length);
  const bodies = logs.map((log) => logResponse(log).data);
  if (format === 'ndjson')
    expect(text.split('\n')).toEqual([...bodies.map((body) => JSON.stringify(body)), '']);
  else {
    const rows = bodies.map((body) => columns.map((name) => fieldOf(Reflect.get(body, name))));
    expect(rowsIn(text)).toEqual([columns, ...rows]);
  }
}

function fieldOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

function rowsIn(csv: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\n)/g)) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!);
    if (end === '\n') rows.push([]);
  }
  return rows.slice(0, -1);
}
