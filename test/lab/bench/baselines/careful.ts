import { createRequire } from 'node:module';
import { join } from 'node:path';
import pg from 'pg';
import type * as Fastify from '../../tools/node_modules/fastify/fastify.js';
import { type ListQuery, listOf } from './queries.js';

const tools = createRequire(join(process.cwd(), 'test', 'lab', 'tools', 'package.json'));
const { fastify } = tools('fastify') as typeof Fastify;

interface NewLog {
  readonly projectId: string;
  readonly duration: number;
  readonly description: string;
  readonly date: string;
}

const UUID = { type: 'string', format: 'uuid' };
const DATE = { type: 'string', format: 'date' };
const LISTED = {
  id: { type: 'string' },
  projectId: { type: 'string' },
  duration: { type: 'number' },
  description: { type: 'string' },
  createdAt: { type: 'string', format: 'date-time' },
};
const BODY = {
  type: 'object',
  required: ['projectId', 'duration', 'date'],
  additionalProperties: false,
  properties: {
    projectId: UUID,
    duration: { type: 'number', exclusiveMinimum: 0 },
    description: { type: 'string', maxLength: 5000, default: '' },
    date: DATE,
  },
};
const FILTERS = { projectId: UUID, from: DATE, to: DATE };
const PAGE = {
  page: { type: 'integer', minimum: 1, default: 1 },
  limit: { type: 'integer', minimum: 1, maximum: 1000, default: 50 },
};
const QUERY = { type: 'object', additionalProperties: false, properties: { ...FILTERS, ...PAGE } };
const CREATED = {
  type: 'object',
  properties: {
    success: { type: 'boolean' },
    data: { type: 'object', properties: { ...LISTED, date: { type: 'string' } } },
  },
};
const PAGE_OF_LOGS = {
  type: 'object',
  properties: {
    success: { type: 'boolean' },
    data: { type: 'array', items: { type: 'object', properties: LISTED } },
    meta: {
      type: 'object',
      properties: { total: { type: 'integer' }, page: { type: 'integer' }, limit: { type: 'integer' } },
    },
  },
};

const AUTHORIZATION = `Bearer ${process.env.ACCESS_TOKEN}`;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const app = fastify();

app.addHook('onRequest', async (request, reply) => {
  if (request.headers.authorization === AUTHORIZATION) return;
  await reply.code(401).send({ success: false, error: 'UNAUTHORIZED', message: 'a valid token is needed' });
});

app.post<{ Body: NewLog }>(
  '/api/v1/time-logs',
  { schema: { body: BODY, response: { 201: CREATED } } },
  async (request, reply) => {
    const { projectId, duration, description, date } = request.body;
    const { rows } = await pool.query<{ id: string; created_at: Date }>({
      name: 'create',
      text: `insert into time_logs (project_id, duration, description, date) values ($1, $2, $3, $4)
             returning id, created_at`,
      values: [projectId, duration, description, date],
    });
    const { id, created_at: createdAt } = rows[0]!;
    return reply
      .code(201)
      .send({ success: true, data: { id, projectId, duration, description, date, createdAt } });
  },
);

app.get<{ Querystring: ListQuery }>(
  '/api/v1/time-logs',
  { schema: { querystring: QUERY, response: { 200: PAGE_OF_LOGS } } },
  ({ query }) => listOf(query, pool),
);

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
