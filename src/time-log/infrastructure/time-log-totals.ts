import { Batcher, type BatcherLimits } from '../../../libs/batching/src/index.js';
import { type Database, PreparedStatement, type TextRow } from '../../database/index.js';
import type { Access } from '../domain/access.js';
import type { Page } from '../domain/page.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';
import type { Grouping, PeriodSum, ProjectSum, Sum, Totals } from '../domain/totals.js';
import { type Whose, whoseOf } from './whose.js';

type Groups = 'none' | 'project' | 'period';

/** The function of each kind of groups, and what it tells of a group. */
const STATEMENTS: Readonly<Record<Groups, { readonly routine: string; readonly group: string }>> = {
  none: { routine: 'time_log_sum', group: `'0' as groups` },
  project: { routine: 'time_log_project_sums', group: 'groups::text, project_id::text' },
  period: {
    routine: 'time_log_period_sums',
    group: 'groups::text, to_json(first_day)::text as first_day, to_json(last_day)::text as last_day',
  },
};
/** The functions of the database that are called here. */
export const TOTALS_ROUTINES = Object.values(STATEMENTS).flatMap(({ routine }) => [routine, `${routine}_of`]);

type Asked = readonly [TimeLogFilter, Page];

/**
 * What of the deadline a request may wait for its turn. The statement may take the rest. What begins later could not be
 * answered in time; under load that would be all, and nobody would get an answer.
 */
const WAIT_SHARE = 0.4;

/** Sums logs by what is summed already. */
export class TimeLogTotals {
  private readonly statements = new Map<string, PreparedStatement>();
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

  async of(
    filter: TimeLogFilter,
    grouping: Grouping | undefined,
    page: Page,
    access: Access,
  ): Promise<Totals> {
    const whose = whoseOf(filter, access);
    const values = [whose.project, filter.period.from, filter.period.to];
    if (grouping === undefined) return this.read('none', whose, values);
    if (grouping !== 'project')
      return this.read('period', whose, [...values, grouping, ...placeOf(page)], periodSumOf);
    if (whose.suffix === '_of') return this.read('project', whose, [...values, ...placeOf(page)]);
    // The only group is the whole, as cheap as any other total.
    if (whose.project !== undefined)
      return onlyGroupOf(whose.project, await this.read('none', whose, values), page);
    return this.byProject.add([filter, page]);
  }

  private async sumProjects([{ period }, page]: Asked): Promise<[Totals]> {
    return [await this.read('project', { suffix: '' }, [period.from, period.to, ...placeOf(page)])];
  }

  /** One statement, so that all sums come from one snapshot. Its first row is the whole. */
  private async read(
    kind: Groups,
    { suffix }: Pick<Whose, 'suffix'>,
    values: readonly unknown[],
    groupOf: (row: TextRow) => ProjectSum | PeriodSum = projectSumOf,
  ): Promise<Totals> {
    const [whole, ...groups] = await this.database.query(
      this.statementOf(kind, suffix, values.length),
      values,
    );
    return { whole: sumOf(whole!), groups: groups.map(groupOf), groupCount: Number(whole![2]) };
  }

  private statementOf(kind: Groups, suffix: Whose['suffix'], values: number): PreparedStatement {
    const { group } = STATEMENTS[kind];
    const routine = STATEMENTS[kind].routine + suffix;
    const known = this.statements.get(routine);
    if (known !== undefined) return known;
    const parameters = Array.from({ length: values }, (_, index) => `$${index + 1}`).join(', ');
    const made = new PreparedStatement(
      `select n::text, trim_scale(duration)::text as duration, ${group} from ${this.database.routine(routine)}(${parameters})`,
    );
    this.statements.set(routine, made);
    return made;
  }
}

/** The totals by project of one project, from those without groups. */
function onlyGroupOf(projectId: string, { whole }: Totals, { offset }: Page): Totals {
  const groups = whole.count === 0 ? [] : [{ projectId, ...whole }];
  return { whole, groups: offset === 0n ? groups : [], groupCount: groups.length };
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
