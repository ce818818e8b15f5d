import { throwFaults } from '../../../libs/errors/src/domain-error.js';
import { accessTo, type CallOptions } from '../../time-log/application/access.js';
import { AttributeRules } from '../../time-log/domain/attribute-rules.js';
import { filterOf, type TimeLogFilterInput } from '../../time-log/domain/time-log-query.js';
import {
  type ExportFormat,
  formatFault,
  linesOf,
  type ExportRepository,
  type LogsOfMoment,
} from '../domain/export.repository.js';

/** The logs of one moment as a file. */
export interface ExportedLogs extends Omit<LogsOfMoment, 'pages'> {
  /** The bytes of the file in UTF-8, whose lines end with LF. They are read at most once. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** The options of an export. */
export interface ExportOptions extends CallOptions {
  /** Ends the export at once. */
  readonly signal?: AbortSignal | undefined;
}

/** Exports time logs, for HTTP and the code of a host. */
export class ExportService {
  constructor(
    private readonly repository: ExportRepository,
    private readonly attributeRules: AttributeRules = new AttributeRules(),
  ) {}

  /**
   * Passes the matching logs of one moment to `use` as a file, and resolves with its result. Throws DomainError
   * VALIDATION_ERROR, FORBIDDEN if the filter names a project that the caller may not access, SERVICE_UNAVAILABLE, also
   * if too many exports are running or the export ends early, the reason of the signal, and what `use` throws.
   */
  async export<T>(
    filter: TimeLogFilterInput,
    format: ExportFormat,
    use: (logs: ExportedLogs) => Promise<T>,
    options: ExportOptions = {},
  ): Promise<T> {
    throwFaults([formatFault(format)]);
    const matching = filterOf(filter, this.attributeRules);
    const access = accessTo(matching.projectIds, options, this.attributeRules);
    const { caller, signal } = options;
    signal?.throwIfAborted();
    const { haveAttributes } = this.attributeRules;
    return this.repository.export(
      { filter: matching, access, callerId: caller?.id, signal },
      ({ pages, ...logs }) => use({ ...logs, content: linesOf(pages, format, haveAttributes) }),
    );
  }
}
