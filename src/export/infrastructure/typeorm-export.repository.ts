import { DomainError } from '../../../libs/errors/src/index.js';
import type { Snapshot } from '../../database/index.js';
import { attributesIn, type TimeLogAccess } from '../../time-log/domain/time-log-access.js';
import { TimeLog } from '../../time-log/domain/time-log.js';
import type { TimeLogFilter } from '../../time-log/domain/time-log.repository.js';
import { projectsOf } from '../../time-log/infrastructure/access-condition.js';
import { attributeCondition } from '../../time-log/infrastructure/attribute-condition.js';
import { TimeLogDeletion } from '../../time-log/infrastructure/time-log-deletion.entity.js';
import type { TypeOrmTimeLogRepository } from '../../time-log/infrastructure/typeorm-time-log.repository.js';
import { type ExportedLogs, ExportRepository, type ExportRequest } from '../domain/export.repository.js';
import { withAttributes } from './attribute-lines.js';
import { layoutOf, orderedRows } from './export-sql.js';

/** The maximum number of exports at a time, if the pool has twice as many connections. */
const MAX_EXPORTS = 2;

/** Exports the logs of a TypeOrmTimeLogRepository, each time over a connection of the pool. */
export class TypeOrmExportRepository extends ExportRepository {
  /** The callers of the running exports. */
  private readonly running: (string | undefined)[] = [];

  constructor(private readonly logs: Pick<TypeOrmTimeLogRepository, 'costlyReads' | 'database' | 'rows'>) {
    super();
  }

  /** The number of running exports. */
  get runningExports(): number {
    return this.running.length;
  }

  override async export<T>(request: ExportRequest, use: (logs: ExportedLogs) => Promise<T>): Promise<T> {
    const { caller } = request;
    const { database } = this.logs;
    const limit = Math.min(MAX_EXPORTS, Math.floor(database.pool.max / 2) || 1);
    if (this.running.length >= limit || (caller !== undefined && this.running.includes(caller)))
      throw new DomainError('SERVICE_UNAVAILABLE', 'too many exports are running: wait until one has ended');
    this.running.push(caller);
    try {
      return await database.replica.read(database.table(TimeLog), async (snapshot) => {
        const content = this.contentOf(request, snapshot);
        try {
          const lastEventId = await this.lastEventIdOf(request, snapshot);
          return await use({ total: await this.totalOf(request, snapshot), lastEventId, content });
        } finally {
          // A reader that stops ends the COPY.
          await content.return(undefined);
        }
      });
    } finally {
      this.running.splice(this.running.indexOf(caller), 1);
    }
  }

  /**
   * Returns the place right before the horizon of the feed. All events before it are in the snapshot, and those after
   * it are harmless to apply again. The position right after the mark belongs to logs from before it, and
   * there is nothing below it that the snapshot lacks, so that the mark itself is the place.
   */
  private async lastEventIdOf(
    { filter, access }: ExportRequest,
    snapshot: Snapshot,
  ): Promise<string | undefined> {
    const { from, to } = filter.period;
    if (from ?? to ?? filter.attributes ?? attributesIn(access)) return undefined;
    const { database } = this.logs;
    const [row] = await snapshot.query<{ place: string }>(
      `select (case when exists (select from ${database.table(TimeLogDeletion)} where project_id is null and position = last - 1)
                    then (last - 1) || '-ffffffff-ffff-ffff-ffff-ffffffffffff'
                   else last || '-ffffffff-ffff-ffff-ffff-fffffffffffe' end) as place
         from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ${database.routine('time_log_shift')}() - 1 as last) horizon`,
    );
    return row!.place;
  }

  /** Returns the number of logs: from the counts or, if attributes select them, by counting them. */
  private async totalOf({ filter, access }: ExportRequest, snapshot: Snapshot): Promise<number> {
    const { costlyReads, database } = this.logs;
    const { condition, projects, ofAttributes } = this.selectionOf(filter, access, snapshot);
    const ofProjects = projects && `array[${projects.join()}]::uuid[]`;
    const { from, to } = filter.period;
    const days = [from, to].map((day) => (day === undefined ? 'null' : `${snapshot.literal(day)}::date`));
    const [row] = await snapshot.queryWithin<{ total: string }>(
      ofAttributes === undefined
        ? `select n as total from ${database.routine('sum_time_logs')}(${ofProjects ?? 'null'}, ${days.join()})`
        : `select count(*) as total from ${database.table(TimeLog)} log
            where ${condition}${ofProjects ? ` and project_id = any(${ofProjects})` : ''}`,
      costlyReads.limit,
    );
    return Number(row!.total);
  }

  private contentOf(
    { filter, format, access, signal }: ExportRequest,
    snapshot: Snapshot,
  ): AsyncGenerator<Uint8Array, undefined> {
    const { database, rows } = this.logs;
    const { list, options } = layoutOf(format, rows.haveAttributes);
    const { condition, projects } = this.selectionOf(filter, access, snapshot);
    const select = orderedRows(database.table(TimeLog), list, projects, condition);
    const content = snapshot.copy(`copy (${select}) to stdout (${options})`, signal);
    return rows.haveAttributes ? withAttributes(content, format) : content;
  }

  /** Returns the SQL that selects the logs: the projects as literals (null means all), and a condition on `log`. */
  private selectionOf(filter: TimeLogFilter, access: TimeLogAccess, snapshot: Snapshot) {
    const literal = (text: string) => snapshot.literal(text);
    const { from, to } = filter.period;
    const ofAttributes = attributeCondition(filter, access, literal);
    const limits = [
      from && `date >= ${literal(from)}::date`,
      to && `date <= ${literal(to)}::date`,
      ofAttributes,
    ].filter((limit) => limit !== undefined);
    const projects = projectsOf(filter, access);
    return {
      projects: projects && [...new Set(projects)].map(literal),
      condition: limits.join(' and ') || 'true',
      ofAttributes,
    };
  }
}
