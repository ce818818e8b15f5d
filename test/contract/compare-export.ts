import { expect } from '@jest/globals';
import {
  CSV_COLUMNS,
  type ExportedLogs,
  type ExportFormat,
  type ExportService,
  type LogsOfMoment,
} from '../../src/export/index.js';
import { logResponse, type TimeLog } from '../../src/time-log/index.js';

/** Returns all logs of an export. */
export async function logsOf({ pages }: LogsOfMoment): Promise<TimeLog[]> {
  const logs: TimeLog[] = [];
  for await (const page of pages) logs.push(...page);
  return logs;
}

async function textOf({ content }: ExportedLogs): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** Compares the export of a project with the bodies of all its logs, in the order of creation. */
export async function compareExport(
  exports: ExportService,
  projectId: string,
  logs: readonly TimeLog[],
  format: ExportFormat,
  columns: readonly string[] = CSV_COLUMNS,
): Promise<void> {
  const [text, total] = await exports.export(
    { projectIds: [projectId] },
    format,
    async (exported) => [await textOf(exported), exported.total] as const,
  );
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
