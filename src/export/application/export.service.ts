import { accessToMatching, type CallOptions } from '../../time-log/application/call-options.js';
import type { TimeLogFilter } from '../../time-log/domain/time-log.repository.js';
import type { ExportFormat } from '../domain/export-format.js';
import type { ExportedLogs, ExportRepository } from '../domain/export.repository.js';

/** The options of an export. */
export interface ExportOptions extends CallOptions {
  /** Ends the export at once. */
  readonly signal?: AbortSignal | undefined;
}

/** Exports time logs, for HTTP and the code of a host. */
export class ExportService {
  constructor(private readonly repository: ExportRepository) {}

  /**
   * Passes the matching logs of one moment to `use` as a file, and resolves with its result. Throws DomainError
   * FORBIDDEN if the filter names a project that the caller may not access, SERVICE_UNAVAILABLE, also if too many
   * exports are running or the export ends early, the reason of the signal, and what `use` throws.
   */
  async export<T>(
    filter: TimeLogFilter,
    format: ExportFormat,
    use: (logs: ExportedLogs) => Promise<T>,
    options: ExportOptions = {},
  ): Promise<T> {
    const access = accessToMatching(filter, options);
    const { caller, signal } = options;
    signal?.throwIfAborted();
    return this.repository.export({ filter, format, access, caller: caller?.id, signal }, use);
  }
}
