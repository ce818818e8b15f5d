import type { TimeLogAccess } from '../../time-log/domain/time-log-access.js';
import type { TimeLog } from '../../time-log/domain/time-log.js';
import type { TimeLogFilter } from '../../time-log/domain/time-log.repository.js';

/** A filter, and on whose behalf logs are exported. */
export interface ExportRequest {
  readonly filter: TimeLogFilter;
  readonly access: TimeLogAccess;
  /** The id of the client. A client has one export at a time. */
  readonly caller?: string | undefined;
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
