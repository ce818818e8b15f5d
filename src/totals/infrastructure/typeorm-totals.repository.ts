import { PreparedStatement, type TextRow } from '../../database/index.js';
import { TimeLog } from '../../time-log/domain/time-log.js';
import type { PageRequest, TimeLogAccess, TimeLogFilter } from '../../time-log/domain/time-log-query.js';
import type { TypeOrmTimeLogRepository } from '../../time-log/infrastructure/typeorm-time-log.repository.js';
import { projectsOf, matchingLogs } from '../../time-log/infrastructure/time-log-conditions.js';
import { CHEAP_READ, maxMonthRows } from '../../time-log/infrastructure/costly-reads.js';
import {
  TotalsRepository,
  type AttributeSum,
  type GroupedAttribute,
  type Grouping,
  type GroupSum,
  type Sum,
  type Totals,
} from '../domain/totals.js';
import { matchingSums } from './matching-sums.js';

type GroupKind = 'none' | 'project' | 'period';

/** The SQL function for each kind of groups, and the columns that it returns for a group. */
const STATEMENTS: Readonly<Record<GroupKind, { readonly routine: string; readonly columns: string }>> = {
  none: { routine: 'sum_time_logs', columns: `'0' as groups` },
  project: { routine: 'page_time_log_project_sums', columns: 'groups::text, project_id::text' },
  period: {
    routine: 'page_time_log_group_sums',
    columns:
      'groups::text, project_id::text, to_json(first_day)::text as first_day, to_json(last_day)::text as last_day',
  },
};

/**
 * Adds up the monthly sums of a TypeOrmTimeLogRepository, or the logs with attributes. Costly sums and pages share
 * queues.
 */
export class TypeOrmTotalsRepository extends TotalsRepository {
  private readonly statements = new Map<string, PreparedStatement>();

  constructor(private readonly logs: Pick<TypeOrmTimeLogRepository, 'costlyReads' | 'database' | 'sweep'>) {
    super();
  }

  override async totals(
    filter: TimeLogFilter,
    grouping: Grouping | undefined,
    page: PageRequest,
    access: TimeLogAccess,
    callerId?: string,
    attribute?: GroupedAttribute,
  ): Promise<Totals> {
    const matching = matchingLogs(filter, access, attribute !== undefined);
    if (matching) {
      const { costlyReads, database } = this.logs;
      const table = database.table(TimeLog);
      const sqlFor = (condition: string) =>
        matchingSums(table, { ...matching, condition }, filter.period, grouping, page, attribute);
      return totalsOf(await costlyReads.query(callerId, matching, sqlFor), attribute);
    }
    this.logs.sweep.begin();
    const projects = projectsOf(filter, access);
    const { period } = filter;
    const { offset, limit } = page;
    const parameters = [projects, period.from, period.to];
    const run = (isCheap: boolean, ...sum: Parameters<typeof this.read>) =>
      isCheap ? this.read(...sum) : this.logs.costlyReads.run(callerId, () => this.read(...sum));
    // The number of all projects is unknown.
    const isUnbounded = projects === null && grouping?.startsWith('project');
    const rows = isUnbounded ? Infinity : maxMonthRows(projects, period);
    if (grouping === undefined || (grouping === 'project' && projects?.length === 1)) {
      const isOneSum = projects === null || projects.length === 1;
      const totals = await run(isOneSum || rows <= CHEAP_READ.monthRows, 'none', parameters);
      // The only group has all logs.
      return grouping === undefined ? totals : onlyGroupOf(projects![0]!, totals, page);
    }
    const groups = [String(offset), limit];
    return grouping === 'project'
      ? run(rows <= CHEAP_READ.monthRows, 'project', [...parameters, ...groups])
      : run(rows <= CHEAP_READ.monthRowsByPeriod, 'period', [...parameters, grouping, ...groups]);
  }

  /** Runs one statement, so that all sums come from one snapshot. Its first row has the sum of all logs. */
  private async read(kind: GroupKind, values: readonly unknown[]): Promise<Totals> {
    const statement = this.statementOf(kind, values.length);
    return totalsOf(await this.logs.database.query(statement, values));
  }

  private statementOf(kind: GroupKind, parameterCount: number): PreparedStatement {
    const { routine, columns } = STATEMENTS[kind];
    const prepared = this.statements.get(routine);
    if (prepared !== undefined) return prepared;
    const parameters = Array.from({ length: parameterCount }, (_, index) => `$${index + 1}`).join(', ');
    const statement = new PreparedStatement(
      `select n::text, trim_scale(duration)::text as duration, ${columns} from ${this.logs.database.routine(routine)}(${parameters})`,
    );
    this.statements.set(routine, statement);
    return statement;
  }
}

/** Returns the totals by project of one project, from its totals without groups. */
function onlyGroupOf(projectId: string, { whole }: Totals, { offset }: PageRequest): Totals {
  const groups = whole.count === 0 ? [] : [{ projectId, ...whole }];
  return { whole, groups: offset === 0n ? groups : [], groupCount: groups.length };
}

function totalsOf([whole, ...rows]: readonly TextRow[], attribute?: GroupedAttribute): Totals {
  const groups = rows.map((row) => ({ ...valueOf(row, attribute), ...groupSumOf(row) }));
  return { whole: sumOf(whole!), groups, groupCount: Number(whole![2]) };
}

function sumOf([count, duration]: TextRow): Sum {
  return { count: Number(count), duration: duration! };
}

/** Returns the value of a group by an attribute. */
function valueOf(row: TextRow, attribute: GroupedAttribute | undefined): Partial<AttributeSum> {
  return attribute ? { attributes: { [attribute.name]: JSON.parse(row[6] ?? 'null') as string | null } } : {};
}

function groupSumOf(row: TextRow): GroupSum {
  const [projectId, ...days] = row.slice(3, 6);
  const [from, to] = days.map((day) => JSON.parse(day!) as string);
  return { ...(projectId && { projectId }), ...(from && { from, to }), ...sumOf(row) } as GroupSum;
}
