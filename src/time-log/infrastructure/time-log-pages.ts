import { type Database, PreparedStatement, type TextRow } from '../../database/index.js';
import type { PageRequest } from '../domain/page-request.js';
import type { Period } from '../domain/period.js';
import type { TimeLogRepository } from '../domain/time-log.repository.js';
import { projectsOf } from './access-condition.js';
import type { CostlyReads, ReadCost } from './costly-reads.js';
import type { TimeLogRows } from './time-log-rows.js';
import type { TimeLogSweep } from './time-log-sweep.js';

/** The maximum numbers of logs and of rows of counts that a cheap page skips or reads. */
const CHEAP_PAGE = { logs: 5_000, rows: 1_000 };

type PageQuery = Parameters<TimeLogRepository['find']>;

/** Reads pages of logs. Costly ones run in a queue. */
export class TimeLogPages {
  private statement: PreparedStatement | undefined;

  constructor(
    private readonly database: Database,
    private readonly rows: TimeLogRows,
    private readonly reads: CostlyReads,
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

  private run<T>(
    [filter, page, access, caller]: PageQuery,
    read: (values: readonly unknown[]) => Promise<T>,
  ): Promise<T> {
    const projects = projectsOf(filter, access);
    const { period } = filter;
    const values = [projects, period.from, period.to, String(page.offset), page.limit];
    return this.reads.run(caller, costOf(projects, period, page), () => read(values));
  }

  private get routine(): string {
    return `${this.database.routine('page_time_logs')}($1, $2, $3, $4, $5)`;
  }
}

/** Returns undefined for a page far from the start. Several projects need a page of each. */
function costOf(
  projects: ReadCost['projects'],
  period: Period,
  { offset, limit }: PageRequest,
): ReadCost | undefined {
  const isOneList = projects === null || projects.length === 1;
  const isNear = (projects?.length ?? 1) * (Number(offset) + limit) <= CHEAP_PAGE.logs;
  return isNear ? { projects, period, rows: isOneList ? Infinity : CHEAP_PAGE.rows } : undefined;
}
