import { PreparedStatement, type TextRow } from '../../database/index.js';
import type { PageRequest } from '../../time-log/domain/page-request.js';
import type { ProjectAccess } from '../../time-log/domain/project-access.js';
import type { TimeLogFilter } from '../../time-log/domain/time-log.repository.js';
import type { TypeOrmTimeLogRepository } from '../../time-log/infrastructure/typeorm-time-log.repository.js';
import { projectsOf } from '../../time-log/infrastructure/whose.js';
import { TotalsRepository } from '../domain/totals.repository.js';
import type { Grouping, PeriodSum, ProjectSum, Sum, Totals } from '../domain/totals.js';

type Groups = 'none' | 'project' | 'period';

/** The function of each kind of groups, and what it tells of a group. */
const STATEMENTS: Readonly<Record<Groups, { readonly routine: string; readonly group: string }>> = {
  none: { routine: 'sum_time_logs', group: `'0' as groups` },
  project: { routine: 'page_time_log_project_sums', group: 'groups::text, project_id::text' },
  period: {
    routine: 'page_time_log_period_sums',
    group: 'groups::text, to_json(first_day)::text as first_day, to_json(last_day)::text as last_day',
  },
};

/** The number of rows of counts that a sum may read at once. Days are taken out of rows one by one; a year has 12. */
const FEW_ROWS = { ofDays: 128, whole: 1_000 };

/** Sums the logs of a TypeOrmTimeLogRepository from the sums of months. Costly sums and pages share one queue. */
export class TypeOrmTotalsRepository extends TotalsRepository {
  private readonly statements = new Map<string, PreparedStatement>();

  constructor(private readonly logs: Pick<TypeOrmTimeLogRepository, 'database' | 'reads' | 'sweep'>) {
    super();
  }

  override async totals(
    filter: TimeLogFilter,
    grouping: Grouping | undefined,
    page: PageRequest,
    access: ProjectAccess,
    caller?: string,
  ): Promise<Totals> {
    this.logs.sweep.begin();
    const projects = projectsOf(filter, access);
    const { period } = filter;
    const of = [projects, period.from, period.to];
    const run = (rows: number | undefined, ...sum: Parameters<typeof this.read>) =>
      this.logs.reads.run(caller, rows === undefined ? undefined : { projects, period, rows }, () =>
        this.read(...sum),
      );
    const isOneSum = projects === null || projects.length === 1;
    if (grouping === undefined || (grouping === 'project' && projects?.length === 1)) {
      const totals = await run(isOneSum ? Infinity : FEW_ROWS.whole, 'none', of);
      // The only group is the whole.
      return grouping === undefined ? totals : onlyGroupOf(projects![0]!, totals, page);
    }
    if (grouping !== 'project')
      return run(FEW_ROWS.ofDays, 'period', [...of, grouping, ...placeOf(page)], periodSumOf);
    // Of all projects the number is unknown.
    return run(projects === null ? undefined : FEW_ROWS.whole, 'project', [...of, ...placeOf(page)]);
  }

  /** One statement, so that all sums come from one snapshot. Its first row is the whole. */
  private async read(
    kind: Groups,
    values: readonly unknown[],
    groupOf: (row: TextRow) => ProjectSum | PeriodSum = projectSumOf,
  ): Promise<Totals> {
    const [whole, ...groups] = await this.logs.database.query(this.statementOf(kind, values.length), values);
    return { whole: sumOf(whole!), groups: groups.map(groupOf), groupCount: Number(whole![2]) };
  }

  private statementOf(kind: Groups, values: number): PreparedStatement {
    const { routine, group } = STATEMENTS[kind];
    const known = this.statements.get(routine);
    if (known !== undefined) return known;
    const parameters = Array.from({ length: values }, (_, index) => `$${index + 1}`).join(', ');
    const made = new PreparedStatement(
      `select n::text, trim_scale(duration)::text as duration, ${group} from ${this.logs.database.routine(routine)}(${parameters})`,
    );
    this.statements.set(routine, made);
    return made;
  }
}

/** The totals by project of one project, from those without groups. */
function onlyGroupOf(projectId: string, { whole }: Totals, { offset }: PageRequest): Totals {
  const groups = whole.count === 0 ? [] : [{ projectId, ...whole }];
  return { whole, groups: offset === 0n ? groups : [], groupCount: groups.length };
}

function placeOf({ offset, limit }: PageRequest): unknown[] {
  return [String(offset), limit];
}

function sumOf([count, duration]: TextRow): Sum {
  return { count: Number(count), duration: duration! };
}

function projectSumOf(row: TextRow): ProjectSum {
  return { projectId: row[3]!, ...sumOf(row) };
}

function periodSumOf(row: TextRow): PeriodSum {
  const [from, to] = row.slice(3).map((day) => JSON.parse(day!) as string);
  return { from: from!, to: to!, ...sumOf(row) };
}
