/** The query of a request, as texts. */
interface ListQuery {
  readonly projectId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly page?: number | string | undefined;
  readonly limit?: number | string | undefined;
}
export interface TotalsQuery extends ListQuery {
  readonly by?: string | undefined;
}

type Run = (sql: string, values: unknown[]) => Promise<Record<string, string>[]>;

/** The condition of a filter, with its values. */
function filterOf({ projectId, from, to }: ListQuery): [where: string, values: unknown[]] {
  const values: unknown[] = [];
  const conditions: string[] = [];
  if (projectId !== undefined) conditions.push(`project_id = $${values.push(projectId)}`);
  if (from !== undefined) conditions.push(`date >= $${values.push(from)}`);
  if (to !== undefined) conditions.push(`date <= $${values.push(to)}`);
  return [conditions.length > 0 ? `where ${conditions.join(' and ')}` : '', values];
}

/** A page and its total, side by side. */
export async function listOf(query: ListQuery, run: Run) {
  const [page, limit] = [Number(query.page ?? 1), Number(query.limit ?? 50)];
  const [where, values] = filterOf(query);
  const [logs, [counted]] = await Promise.all([
    run(
      `select id, project_id, duration, description, created_at from time_logs ${where}
        order by date desc, created_at desc, id desc
        limit $${values.length + 1} offset $${values.length + 2}`,
      [...values, limit, (page - 1) * limit],
    ),
    run(`select count(*) from time_logs ${where}`, values),
  ]);
  const data = logs.map(({ id, project_id: projectId, duration, description, created_at: createdAt }) => ({
    id,
    projectId,
    duration: Number(duration),
    description,
    createdAt,
  }));
  return { success: true, data, meta: { total: Number(counted!.count), page, limit } };
}

/**
 * Totals as most would write them: `count`, `sum` and `group by` over the rows, along the index of project and date.
 */
export async function totalsOf(query: TotalsQuery, run: Run) {
  const { from, to, by } = query;
  const [page, limit] = [Number(query.page ?? 1), Number(query.limit ?? 50)];
  const [where, values] = filterOf(query);
  const logs = `from time_logs ${where}`;
  const sums = 'count(*) as count, coalesce(sum(duration), 0) as duration';
  const key = by === 'project' ? 'project_id' : `date_trunc('${by}', date::timestamp)::date`;
  const last = by === 'project' ? 'null' : `(${key} + interval '1 ${by}' - interval '1 day')::date::text`;
  const order = by === 'project' ? 'duration desc, key' : 'key desc';
  const [[whole], groups, [counted]] = await Promise.all([
    run(`select ${sums} ${logs}`, values),
    by === undefined
      ? []
      : run(
          `select ${key}::text as key, ${last} as last, ${sums} ${logs}
            group by ${key} order by ${order} limit $${values.length + 1} offset $${values.length + 2}`,
          [...values, limit, (page - 1) * limit],
        ),
    by === undefined ? [{ total: '0' }] : run(`select count(distinct ${key}) as total ${logs}`, values),
  ]);
  const data = groups.map(({ key: first, last: end, count, duration }) => ({
    ...(by === 'project'
      ? { projectId: first }
      : { from: from! > first! ? from : first, to: to! < end! ? to : end }),
    count: Number(count),
    duration: Number(duration),
  }));
  const [count, duration, total] = [whole!.count, whole!.duration, counted.total].map(Number);
  return { success: true, data, meta: { count, duration, total, page, limit } };
}
