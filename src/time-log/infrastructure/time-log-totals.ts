import { Batcher, type BatcherLimits } from '../../../libs/batching/src/index.js';
import { type Database, PreparedStatement, type TextRow } from '../../database/index.js';
import type { Page } from '../domain/page.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';
import type { Grouping, PeriodSum, ProjectSum, Sum, Totals } from '../domain/totals.js';

type Groups = 'none' | 'project' | 'period';

/** The function of each kind of groups, its parameters, and what it tells of a group. */
const STATEMENTS: Readonly<
  Record<Groups, { readonly routine: string; readonly parameters: string; readonly group: string }>
> = {
  none: { routine: 'time_log_sum', parameters: '$1, $2, $3', group: `'0' as groups` },
  project: {
    routine: 'time_log_project_sums',
    parameters: '$1, $2, $3, $4',
    group: 'groups::text, project_id::text',
  },
  period: {
    routine: 'time_log_period_sums',
    parameters: '$1, $2, $3, $4, $5, $6',
    group: 'groups::text, to_json(first_day)::text as first_day, to_json(last_day)::text as last_day',
  },
};
/** The functions of the database that are called here. */
export const TOTALS_ROUTINES = Object.values(STATEMENTS).map(({ routine }) => routine);

type Asked = readonly [TimeLogFilter, Page];

/**
 * What of the deadline a request may wait for its turn. The statement may take the rest. What begins later could not be
 * answered in time; under load that would be all, and nobody would get an answer.
 */
const WAIT_SHARE = 0.4;

/** Sums logs by what is summed already. */
export class TimeLogTotals {
  private readonly statements: Partial<Record<Groups, PreparedStatement>> = {};
  /** One at a time: each reads the sums of all projects. */
  private readonly byProject: Batcher<Asked, Totals>;

  /** `wait` is the deadline of a request in milliseconds, `now` the time in milliseconds. */
  constructor(
    private readonly database: Pick<Database, 'query' | 'routine'>,
    { queue, wait }: Pick<BatcherLimits, 'queue' | 'wait'>,
    now?: () => number,
  ) {
    const limits = { batch: 1, queue, wait: wait * WAIT_SHARE };
    this.byProject = new Batcher(([asked]) => this.sumProjects(asked!), limits, now);
  }

  async of(filter: TimeLogFilter, grouping: Grouping | undefined, page: Page): Promise<Totals> {
    if (grouping === undefined) return this.read('none', valuesOf(filter));
    if (grouping !== 'project')
      return this.read('period', [...valuesOf(filter), grouping, ...placeOf(page)], periodSumOf);
    // The only group is the whole, as cheap as any other total.
    if (filter.projectId !== undefined)
      return onlyGroupOf(filter.projectId, await this.of(filter, undefined, page), page);
    return this.byProject.add([filter, page]);
  }

  private async sumProjects([{ period }, page]: Asked): Promise<[Totals]> {
    return [await this.read('project', [period.from, period.to, ...placeOf(page)], projectSumOf)];
  }

  /** One statement, so that all sums come from one snapshot. Its first row is the whole. */
  private async read(
    kind: Groups,
    values: readonly unknown[],
    groupOf: (row: TextRow) => ProjectSum | PeriodSum = projectSumOf,
  ): Promise<Totals> {
    const { routine, parameters, group } = STATEMENTS[kind];
    this.statements[kind] ??= new PreparedStatement(
      `select n::text, trim_scale(duration)::text as duration, ${group} from ${this.database.routine(routine)}(${parameters})`,
    );
    const [whole, ...groups] = await this.database.query(this.statements[kind], values);
    return { whole: sumOf(whole!), groups: groups.map(groupOf), groupCount: Number(whole![2]) };
  }
}

/** The totals by project of one project, from those without groups. */
function onlyGroupOf(projectId: string, { whole }: Totals, { offset }: Page): Totals {
  const groups = whole.count === 0 ? [] : [{ projectId, ...whole }];
  return { whole, groups: offset === 0n ? groups : [], groupCount: groups.length };
}

function valuesOf({ projectId, period }: TimeLogFilter): unknown[] {
  return [projectId, period.from, period.to];
}

function placeOf({ offset, limit }: Page): unknown[] {
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
