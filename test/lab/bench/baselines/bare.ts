import express from 'express';
import pg from 'pg';
import { totalsOf } from './totals.js';

/** Of the columns that a list shows. */
interface Row {
  readonly id: string;
  readonly project_id: string;
  readonly duration: string;
  readonly description: string;
  readonly created_at: Date;
}

const AUTHORIZATION = `Bearer ${process.env.ACCESS_TOKEN}`;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const app = express();
app.disable('etag');
app.disable('x-powered-by');

app.use((request, response, next) => {
  if (request.headers.authorization === AUTHORIZATION) next();
  else
    response.status(401).json({ success: false, error: 'UNAUTHORIZED', message: 'a valid token is needed' });
});

app.post('/api/v1/time-logs', express.json(), async (request, response) => {
  const { projectId, duration, description, date } = request.body as Record<string, unknown>;
  const { rows } = await pool.query<Pick<Row, 'id' | 'created_at'>>(
    `insert into time_logs (project_id, duration, description, date) values ($1, $2, $3, $4)
     returning id, created_at`,
    [projectId, duration, description, date],
  );
  const { id, created_at: createdAt } = rows[0]!;
  response
    .status(201)
    .json({ success: true, data: { id, projectId, duration, description, date, createdAt } });
});

app.get('/api/v1/time-logs', async (request, response) => {
  const { projectId, from, to, page: pageText, limit: limitText } = request.query as Record<string, string>;
  const page = Number(pageText ?? 1);
  const limit = Number(limitText ?? 50);
  const conditions: string[] = [];
  const values: unknown[] = [];
  if (projectId !== undefined) conditions.push(`project_id = $${values.push(projectId)}`);
  if (from !== undefined) conditions.push(`date >= $${values.push(from)}`);
  if (to !== undefined) conditions.push(`date <= $${values.push(to)}`);
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  const [logs, counted] = await Promise.all([
    pool.query<Row>(
      `select id, project_id, duration, description, created_at from time_logs ${where}
        order by date desc, created_at desc, id desc
        limit $${values.length + 1} offset $${values.length + 2}`,
      [...values, limit, (page - 1) * limit],
    ),
    pool.query<{ count: string }>(`select count(*) from time_logs ${where}`, values),
  ]);
  const data = logs.rows.map((row) => ({
    id: row.id,
    projectId: row.project_id,
    duration: Number(row.duration),
    description: row.description,
    createdAt: row.created_at,
  }));
  response.json({ success: true, data, meta: { total: Number(counted.rows[0]!.count), page, limit } });
});

app.get('/api/v1/time-logs/totals', async (request, response) => {
  const run = async (sql: string, values: unknown[]) =>
    (await pool.query<Record<string, string>>(sql, values)).rows;
  response.json(await totalsOf(request.query, run));
});

app.listen(Number(process.env.PORT), '127.0.0.1');
