import type { Period } from '../../src/time-log/index.js';
import type { Grouping, GroupSum, Sum, Totals } from '../../src/totals/index.js';
import type { DataSource, PageRequest } from './storage.js';

/** SQL for the first and the last day of the period of a log. */
const DAYS: Readonly<Record<string, readonly [first: string, last: string]>> = {
  day: ['date', 'date'],
  week: [`date_trunc('week', date)::date`, `date_trunc('week', date)::date + 6`],
  month: [
    `date_trunc('month', date)::date`,
    `(date_trunc('month', date) + interval '1 month - 1 day')::date`,
  ],
};
const SUM = `count(*)::integer as count, coalesce(trim_scale(sum(duration)), 0)::text as duration`;

/** Returns the totals of the logs that a condition selects, by plain queries that read each of them. */
export async function plainTotals(
  dataSource: DataSource,
  [condition, parameters]: readonly [condition: string, parameters: readonly unknown[]],
  { from, to }: Period,
  grouping: Grouping | undefined,
  { limit, offset }: PageRequest,
): Promise<Totals> {
  const query = <Row>(select: string, rest = '') =>
    dataSource.query<Row[]>(`select ${select} from time_logs where ${condition} ${rest}`, [...parameters]);
  const [whole] = await query<Sum>(SUM);
  if (grouping === undefined) return { whole: whole!, groups: [], groupCount: 0 };
  const [first, last] = DAYS[grouping.split(',').at(-1)!] ?? [];
  const columns = [
    ...(grouping.startsWith('project') ? ['project_id as "projectId"'] : []),
    ...(first ? [`greatest(${first}, '${from ?? '0001-01-01'}')::text as "from"`] : []),
    ...(last ? [`least(${last}, '${to ?? '9999-12-31'}')::text as "to"`] : []),
  ];
  const order =
    grouping === 'project'
      ? 'sum(duration) desc, "projectId"'
      : columns.length === 3
        ? '"projectId", "from" desc'
        : '"from" desc';
  const groups = await query<GroupSum>(
    `${columns.join(', ')}, ${SUM}`,
    `group by ${columns.map((_, index) => index + 1).join()}
     order by ${order}`,
  );
  const start = Number(offset);
  return { whole: whole!, groups: groups.slice(start, start + limit), groupCount: groups.length };
}
