import type { TimeLogAccess } from '../../time-log/domain/time-log-access.js';
import type { TimeLogFilter } from '../../time-log/domain/time-log.repository.js';
import type { ExportFormat } from './export-format.js';

/** The logs of one moment. */
export interface ExportedLogs {
  /** The number of logs. A reader of fewer has only a part. */
  readonly total: number;
  /**
   * The place in the feed at that moment: a copy of these logs that goes on from there misses no change. Undefined if
   * the feed has other logs than the export.
   */
  readonly lastEventId: string | undefined;
  /** The bytes of a file in UTF-8, whose lines end with LF. They are read at most once. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** A filter, a format, and on whose behalf logs are exported. */
export interface ExportRequest {
  readonly filter: TimeLogFilter;
  readonly format: ExportFormat;
  readonly access: TimeLogAccess;
  /** The id of the client. A client has one export at a time. */
  readonly caller?: string | undefined;
  /** Ends the export at once. */
  readonly signal?: AbortSignal | undefined;
}

/** The port to the store that exports time logs. Logs outside the access count as missing. */
export abstract class ExportRepository {
  /**
   * Passes the matching logs of one moment to `use`, and resolves with its result. The oldest date comes first, then
   * the order of creation. The content throws DomainError SERVICE_UNAVAILABLE if it ends early, or the reason of the
   * signal. Throws the same, also if too many exports are running, and what `use` throws.
   */
  abstract export<T>(request: ExportRequest, use: (logs: ExportedLogs) => Promise<T>): Promise<T>;
}
