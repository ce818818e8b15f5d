import type { FairQueue } from '../../../libs/batching/src/index.js';
import { type Database, PreparedStatement, type TextRow, TextStatement } from '../../database/index.js';
import type { TimeLogRepository } from '../domain/time-log.repository.js';
import { TimeLog } from '../domain/time-log.js';
import { projectsOf } from './access-condition.js';
import type { CostlyReads } from './costly-reads.js';
import type { TimeLogRows } from './time-log-rows.js';
import type { TimeLogSweep } from './time-log-sweep.js';

/** The maximum numbers of logs and of rows of counts that a near page skips or reads. */
const NEAR_PAGE = { logs: 5_000, rows: 1_000 };

/** The end of all places: no UUIDv7 is as great. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

type PageQuery = Parameters<TimeLogRepository['find']>;

/** Reads pages of logs. Pages far from the first one, and of many projects, run in queues. */
export class TimeLogPages {
  private statement: PreparedStatement | undefined;

  constructor(
    private readonly database: Database,
    private readonly rows: TimeLogRows,
    private readonly reads: CostlyReads,
    private readonly farPages: FairQueue,
    private readonly sweep: TimeLogSweep,
  ) {}

  /** Returns the rows of a page, and the number of matching logs. */
  async read(...query: PageQuery): Promise<{ readonly rows: readonly TextRow[]; readonly total: number }> {
    // A single statement reads page and total from one snapshot. The first row has only the total.
    const statement = (this.statement ??= new PreparedStatement(
      `select ${this.rows.selection('log')}, total from ${this.routine}`,
    ));
    // Fold also if the read fails: too many unfolded changes may be the cause.
    this.sweep.begin();
    const [first, ...rows] = await this.run(query, (values) => this.database.query(statement, values));
    return { rows, total: Number(first!.at(-1)) };
  }

  /** Returns the bytes of the texts of a page. */
  async weigh(...query: PageQuery): Promise<number> {
    const statement = `select sum(${this.rows.textBytes('log')}) as bytes from ${this.routine}`;
    const [row] = await this.run(query, (values) =>
      this.database.query<{ bytes: string | null }>(statement, values),
    );
    return Number(row!.bytes);
  }

  /** Returns the rows of the logs after a place, of one project or of all. */
  async after(
    ...[filter, place, limit, access]: Parameters<NonNullable<TimeLogRepository['after']>>
  ): Promise<readonly TextRow[]> {
    const projects = projectsOf(filter, access);
    if (projects?.length === 0) return [];
    if (projects && projects.length > 1) throw new Error('after reads the logs of one project, or of all');
    const { from = '0001-01-01', to = '9999-12-31' } = filter.period;
    const { date, id } = place ?? { date: to, id: LAST_ID };
    const table = this.database.table(TimeLog);
    // A snapshot reads by index, whatever the planner knows of the table. A row with the project, and not
    // `project_id = …`, has the order of the index of projects alone.
    return this.database.read(table, (snapshot) => {
      const column = projects ? 'project_id, ' : '';
      const project = projects ? `${snapshot.literal(projects[0]!)}::uuid, ` : '';
      const [first, last, lastId] = [from, date, id].map((text) => snapshot.literal(text));
      return snapshot.query(
        new TextStatement(
          `select ${this.rows.selection('log')} from ${table} log
            where (${column}date, id) < (${project}${last}::date, ${lastId}::uuid)
              and (${column}date) >= (${project}${first}::date)
            order by ${projects ? 'log.project_id desc, ' : ''}log.date desc, log.id desc limit ${limit}`,
        ),
      );
    });
  }

  private run<T>(
    [filter, page, access, caller]: PageQuery,
    read: (values: readonly unknown[]) => Promise<T>,
  ): Promise<T> {
    const projects = projectsOf(filter, access);
    const { period } = filter;
    const values = [projects, period.from, period.to, String(page.offset), page.limit];
    const lists = projects?.length ?? 1;
    const isNear = lists * (Number(page.offset) + page.limit) <= NEAR_PAGE.logs;
    // A page of one list skips at most half of its fullest day.
    if (lists === 1) return isNear ? read(values) : this.farPages.run(caller, () => read(values));
    const cost = isNear ? { projects, period, rows: NEAR_PAGE.rows } : undefined;
    return this.reads.run(caller, cost, () => read(values));
  }

  private get routine(): string {
    return `${this.database.routine('page_time_logs')}($1, $2, $3, $4, $5)`;
  }
}
