import express from 'express';
import pg from 'pg';
import { listOf } from './queries.js';

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
  const { rows } = await pool.query<{ id: string; created_at: Date }>(
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
  response.json(await listOf(request.query, pool));
});

app.listen(Number(process.env.PORT), '127.0.0.1');
