import { type Database, PreparedStatement, type TextRow, TextStatement } from '../../database/index.js';
import type { PageRequest } from '../domain/time-log-query.js';
import type { TimeLogRepository } from '../domain/time-log.repository.js';
import { TimeLog } from '../domain/time-log.js';
import {
  attributeCondition,
  collected,
  matchingLogs,
  type MatchingLogs,
  newParameters,
  projectsOf,
} from './time-log-conditions.js';
import { CHEAP_READ, type CostlyReads, maxMonthRows } from './costly-reads.js';
import type { ReadFields, TimeLogRows } from './time-log-rows.js';
import type { TimeLogSweep } from './time-log-sweep.js';

/** The end of all places: no UUIDv7 is as great. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Reads pages of logs. Pages far from the first one, of several projects, and with attributes are costly. */
export class TimeLogPages {
  private readonly statements: Partial<Record<ReadFields, PreparedStatement>> = {};

  constructor(
    private readonly database: Database,
    private readonly rows: TimeLogRows,
    private readonly costlyReads: CostlyReads,
    private readonly sweep: TimeLogSweep,
  ) {}

  /** Returns the rows of a page, and the number of matching logs. */
  async read(
    fields: ReadFields,
    ...[filter, page, access, callerId]: Parameters<TimeLogRepository['find']>
  ): Promise<{ readonly rows: readonly TextRow[]; readonly total: number }> {
    const matching = matchingLogs(filter, access);
    if (matching) return this.readMatching(fields, matching, page, callerId);
    // A single statement reads page and total from one snapshot. The first row has only the total.
    const statement = (this.statements[fields] ??= new PreparedStatement(
      `select ${this.rows.selection('log', fields)}, total from ${this.database.routine('page_time_logs')}($1, $2, $3, $4, $5)`,
    ));
    // Fold also if the read fails: too many unfolded changes may be the cause.
    this.sweep.begin();
    const projects = projectsOf(filter, access);
    const { period } = filter;
    const lists = projects?.length ?? 1;
    const isNear = lists * (Number(page.offset) + page.limit) <= CHEAP_READ.logs;
    // A page of one list skips at most half of its fullest day, and needs few counts.
    const isCheap = isNear && (lists === 1 || maxMonthRows(projects, period) <= CHEAP_READ.monthRows);
    const values = [projects, period.from, period.to, String(page.offset), page.limit];
    const read = () => this.database.query(statement, values);
    const [first, ...rows] = await (isCheap ? read() : this.costlyReads.run(callerId, read));
    return { rows, total: Number(first!.at(-1)) };
  }

  /** Returns the rows of the logs after a place, of one project or of all. */
  async after(
    ...[filter, place, limit, access]: Parameters<TimeLogRepository['after']>
  ): Promise<readonly TextRow[]> {
    const projects = projectsOf(filter, access);
    if (projects?.length === 0) return [];
    if (projects && projects.length > 1) throw new Error('after reads the logs of one project, or of all');
    const { from = '0001-01-01', to = '9999-12-31' } = filter.period;
    const { date, id } = place ?? { date: to, id: LAST_ID };
    const { parameters, bind } = newParameters();
    const ofAttributes = attributeCondition(filter, access, bind);
    const column = projects ? 'project_id, ' : '';
    const project = projects ? `${bind(projects[0]!)}::uuid, ` : '';
    const table = this.database.table(TimeLog);
    // A row with the project, and not `project_id = …`, has the order of the index of projects alone.
    const rest = `(${column}date, id) < (${project}${bind(date)}::date, ${bind(id)}::uuid)
          and (${column}date) >= (${project}${bind(from)}::date)`;
    const source = ofAttributes
      ? `(${collected(table, `${ofAttributes} and ${rest}`)}) log`
      : `${table} log where ${rest}`;
    const statement = new TextStatement(
      `select ${this.rows.selection('log')} from ${source}
        order by ${projects ? 'log.project_id desc, ' : ''}log.date desc, log.id desc limit ${limit}`,
    );
    return this.database.read(table, this.costlyReads.limit, async (snapshot) => {
      // Whatever the planner knows of the table.
      if (!ofAttributes) await snapshot.readByIndex();
      return snapshot.query(statement, parameters);
    });
  }

  /**
   * Reads page and total in one statement. The matching logs are collected first, so that the plan does not depend on
   * an estimate of their number. Without logs on the page its only row has nulls and the total.
   */
  private async readMatching(
    fields: ReadFields,
    matching: MatchingLogs,
    page: PageRequest,
    callerId: string | undefined,
  ): Promise<{ readonly rows: readonly TextRow[]; readonly total: number }> {
    const table = this.database.table(TimeLog);
    const { bind } = matching;
    const rows = await this.costlyReads.query(
      callerId,
      matching,
      (condition) =>
        `with matching as materialized (select id, date, ctid as location from ${table} log where ${condition})
         select ${this.rows.names}, total
           from (select count(*) as total from matching) whole
           left join (select ${this.rows.selection('log', fields)}, page.date as day, page.id as place
                        from (select * from matching order by date desc, id desc
                              offset ${bind(String(page.offset))} limit ${bind(String(page.limit))}) page
                        join ${table} log on log.ctid = page.location) logs on true
          order by day desc, place desc`,
    );
    return { rows: rows.filter(([id]) => id !== null), total: Number(rows[0]!.at(-1)) };
  }
}
