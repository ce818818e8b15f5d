import { DomainError } from '../../../libs/errors/src/index.js';
import { type Snapshot, TextStatement } from '../../database/index.js';
import type { TimeLogAccess, TimeLogFilter } from '../../time-log/domain/time-log-query.js';
import type { TypeOrmTimeLogRepository } from '../../time-log/infrastructure/typeorm-time-log.repository.js';
import { TimeLog } from '../../time-log/domain/time-log.js';
import { collected, projectsOf, matchingLogs } from '../../time-log/infrastructure/time-log-conditions.js';
import { TimeLogDeletion } from '../../time-log/infrastructure/time-log.entities.js';
import { ExportRepository, type ExportRequest, type LogsOfMoment } from '../domain/export.repository.js';

/** The maximum number of exports at a time, if the pool has twice as many connections. */
const MAX_EXPORTS = 2;
/** The number of logs that an export reads at a time: those with the longest descriptions are 20 MB. */
const PAGE_LOGS = 1_000;

/** SQL that selects logs, and its parameters. */
interface Source {
  readonly source: string;
  readonly parameters: readonly unknown[];
}

/** Exports the logs of a TypeOrmTimeLogRepository, each time over a connection of the pool. */
export class TypeOrmExportRepository extends ExportRepository {
  /** The ids of the callers of the running exports. */
  private readonly running: (string | undefined)[] = [];

  constructor(private readonly logs: Pick<TypeOrmTimeLogRepository, 'costlyReads' | 'database' | 'rows'>) {
    super();
  }

  /** The number of running exports. */
  get runningExports(): number {
    return this.running.length;
  }

  override async export<T>(request: ExportRequest, use: (logs: LogsOfMoment) => Promise<T>): Promise<T> {
    const { callerId, signal } = request;
    const { costlyReads, database } = this.logs;
    const limit = Math.min(MAX_EXPORTS, Math.floor(database.pool.max / 2) || 1);
    if (this.running.length >= limit || (callerId !== undefined && this.running.includes(callerId)))
      throw new DomainError('SERVICE_UNAVAILABLE', 'too many exports are running: wait until one has ended');
    this.running.push(callerId);
    try {
      return await database.read(database.table(TimeLog), costlyReads.limit, async (snapshot) => {
        const lastEventId = await this.lastEventIdOf(request, snapshot);
        const total = await this.totalOf(request, snapshot);
        const aborted = rejectionBy(signal);
        // An error closes the connection, also if it waits for a page.
        return Promise.race([use({ total, lastEventId, pages: this.pagesOf(request, snapshot) }), aborted]);
      });
    } finally {
      this.running.splice(this.running.indexOf(callerId), 1);
    }
  }

  /**
   * Returns the cursor right before the horizon of the feed. All events before it are in the snapshot, and those after
   * it are harmless to apply again. The position right after the mark belongs to logs from before it, and
   * there is nothing below it that the snapshot lacks, so that the mark itself is the cursor.
   */
  private async lastEventIdOf(
    { filter, access }: ExportRequest,
    snapshot: Snapshot,
  ): Promise<string | undefined> {
    const { from, to } = filter.period;
    if (from ?? to ?? filter.attributes ?? access.attributes) return undefined;
    const { database } = this.logs;
    const [row] = await snapshot.query<{ cursor: string }>(
      `select (case when exists (select from ${database.table(TimeLogDeletion)} where project_id is null and position = last - 1)
                    then (last - 1) || '-ffffffff-ffff-ffff-ffff-ffffffffffff'
                   else last || '-ffffffff-ffff-ffff-ffff-fffffffffffe' end) as cursor
         from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ${database.routine('time_log_shift')}() - 1 as last) horizon`,
    );
    return row!.cursor;
  }

  /** Returns the number of logs: from the counts or, if attributes select them, by counting them. */
  private async totalOf({ filter, access }: ExportRequest, snapshot: Snapshot): Promise<number> {
    const { database } = this.logs;
    const { from, to } = filter.period;
    const matching = matchingLogs(filter, access);
    const [row] = await (matching
      ? snapshot.query<{ total: string }>(
          `select count(*) as total from ${database.table(TimeLog)} log where ${matching.condition}`,
          matching.parameters,
        )
      : snapshot.query<{ total: string }>(
          `select n as total from ${database.routine('sum_time_logs')}($1, $2, $3)`,
          [projectsOf(filter, access), from, to],
        ));
    return Number(row!.total);
  }

  /** Yields the logs by a cursor, whose statement is planned once and reads each log once. */
  private async *pagesOf(
    { filter, access }: ExportRequest,
    snapshot: Snapshot,
  ): AsyncGenerator<readonly TimeLog[], undefined> {
    const { rows } = this.logs;
    const matching = matchingLogs(filter, access);
    const { source, parameters } = matching
      ? { ...matching, source: collected(this.logs.database.table(TimeLog), matching.condition) }
      : this.sourceOf(filter, access);
    if (!matching) await snapshot.readByIndex();
    await snapshot.query(
      `declare logs no scroll cursor for select ${rows.selection('log')} from (${source}) log order by date, id`,
      parameters,
    );
    const nextPage = new TextStatement(`fetch ${PAGE_LOGS} from logs`);
    for (;;) {
      const page = await snapshot.query(nextPage);
      if (page.length === 0) return;
      yield page.map((row) => rows.log(row));
    }
  }

  /** Returns the SQL of logs for any attributes. Indexes have their order: those of each project are merged. */
  private sourceOf(filter: TimeLogFilter, access: TimeLogAccess): Source {
    const { from = '0001-01-01', to = '9999-12-31' } = filter.period;
    const allowed = projectsOf(filter, access);
    const projects = allowed && [...new Set(allowed)];
    const select = (condition: string) =>
      `select * from ${this.logs.database.table(TimeLog)} where ${condition} and date between $1 and $2`;
    const ofProject = (_project: string, index: number) => `(${select(`project_id = $${index + 3}::uuid`)})`;
    const source = projects === null ? select('true') : projects.map(ofProject).join(' union all ');
    return { source: source || select('false'), parameters: [from, to, ...(projects ?? [])] };
  }
}

/** Rejects with the reason of a signal. */
function rejectionBy(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onAbort = () => reject(signal!.reason as Error);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
  });
}
