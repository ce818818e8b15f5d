import { type Fault, faultOf } from '../../../libs/errors/src/domain-error.js';
import { isoText, createdAtOf, type TimeLog, VALUE_NAMES } from '../../time-log/domain/time-log.js';
import type { TimeLogAccess, TimeLogFilter } from '../../time-log/domain/time-log-query.js';

/** A filter, and on whose behalf logs are exported. */
export interface ExportRequest {
  readonly filter: TimeLogFilter;
  readonly access: TimeLogAccess;
  /** The id of the client. A client has one export at a time. */
  readonly callerId?: string | undefined;
  /** Ends the export at once. */
  readonly signal?: AbortSignal | undefined;
}

/** The logs of one moment. */
export interface LogsOfMoment {
  /** The number of logs. A reader of fewer has only a part. */
  readonly total: number;
  /**
   * The cursor in the feed at that moment: a copy of these logs that goes on from there misses no change. Undefined if
   * the feed has other logs than the export.
   */
  readonly lastEventId: string | undefined;
  /** Yields the logs: the oldest date first, then in the order of creation. They are read at most once. */
  readonly pages: AsyncGenerator<readonly TimeLog[], undefined>;
}

/** The port to the store that exports time logs. Logs outside the access count as missing. */
export abstract class ExportRepository {
  /**
   * Passes the matching logs of one moment to `use`, and resolves with its result. Throws DomainError
   * SERVICE_UNAVAILABLE, also if too many exports are running, the reason of the signal, and what `use` throws.
   */
  abstract export<T>(request: ExportRequest, use: (logs: LogsOfMoment) => Promise<T>): Promise<T>;
}

/** All formats. */
export const EXPORT_FORMATS = ['csv', 'ndjson'] as const;

/** The format of an export: CSV (RFC 4180), or one JSON object on each line. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Returns the fault of an unknown format, or undefined. */
export function formatFault(value: unknown): Fault | undefined {
  if ((EXPORT_FORMATS as readonly unknown[]).includes(value)) return undefined;
  return faultOf('format', value, 'choice', 'must be csv or ndjson', { values: EXPORT_FORMATS });
}

const FIRST_COLUMNS = ['id', 'projectId', 'date', 'duration', 'description', 'createdAt'];
const LATER_VALUES = VALUE_NAMES.filter((name) => !FIRST_COLUMNS.includes(name));
const LATER_FIELDS = LATER_VALUES.filter((name) => name !== 'attributes');

/** The columns of CSV. A deployment whose logs have attributes has these after them, as JSON. */
export const CSV_COLUMNS: readonly string[] = [...FIRST_COLUMNS, ...LATER_FIELDS];

/** Returns a text as a field of CSV. An empty one has quotes: without them many readers take it for a missing value. */
function quoted(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvLine(log: TimeLog, haveAttributes: boolean): string {
  const { id, projectId, date, duration, description } = log;
  let line = `${id},${projectId},${date},${duration},${quoted(description)},${isoText(createdAtOf(id))}`;
  for (const name of haveAttributes ? LATER_VALUES : LATER_FIELDS) line += `,${csvFieldOf(log[name])}`;
  return `${line}\n`;
}

function csvFieldOf(value: unknown): string {
  if (value === undefined) return '';
  return quoted(typeof value === 'string' ? value : JSON.stringify(value));
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
