import type pg from 'pg';

/** The query of a list, as texts or numbers. */
export interface ListQuery {
  readonly projectId?: string;
  readonly from?: string;
  readonly to?: string;
  readonly page?: number | string;
  readonly limit?: number | string;
}

/** A page and its total, side by side. */
export async function listOf({ projectId, from, to, ...query }: ListQuery, pool: pg.Pool) {
  const [page, limit] = [Number(query.page ?? 1), Number(query.limit ?? 50)];
  const values: unknown[] = [];
  const conditions: string[] = [];
  if (projectId !== undefined) conditions.push(`project_id = $${values.push(projectId)}`);
  if (from !== undefined) conditions.push(`date >= $${values.push(from)}`);
  if (to !== undefined) conditions.push(`date <= $${values.push(to)}`);
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  const [logs, counted] = await Promise.all([
    pool.query<Record<string, string>>(
      `select id, project_id, duration, description, created_at from time_logs ${where}
        order by date desc, created_at desc, id desc
        limit $${values.length + 1} offset $${values.length + 2}`,
      [...values, limit, (page - 1) * limit],
    ),
    pool.query<{ count: string }>(`select count(*) from time_logs ${where}`, values),
  ]);
  const data = logs.rows.map(
    ({ id, project_id: projectId, duration, description, created_at: createdAt }) => ({
      id,
      projectId,
      duration: Number(duration),
      description,
      createdAt,
    }),
  );
  return { success: true, data, meta: { total: Number(counted.rows[0]!.count), page, limit } };
}
