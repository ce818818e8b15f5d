import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { answersIn, sendRaw } from '../support/raw-http.js';
import { sendBytes } from '../support/requests.js';
import { type ServiceProcess, startService } from '../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const TOKEN = 'a-token-that-the-deployment-declares';
const LOG = { projectId: randomUUID(), duration: 1, description: '', date: '2026-01-31' };

describe('the limits that the environment sets', () => {
  let database: TestDatabase;
  let service: ServiceProcess;
  let sql: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    sql = await new DataSource({ type: 'postgres', url: database.url }).initialize();
    service = await startService({
      DATABASE_URL: database.url,
      ACCESS_TOKEN: TOKEN,
      HEADERS_TIMEOUT: '1',
      REQUEST_TIMEOUT: '1',
      KEEP_ALIVE_TIMEOUT: '1',
      HEADERS_LIMIT: '4096',
      BODY_LIMIT: '2000',
      DEADLINE: '0.5',
      POOL_SIZE: '2',
      WRITE_QUEUE: '3',
    });
  });
  afterAll(async () => {
    await service.end();
    await sql.destroy();
    await database.drop();
  });

  const head = `POST /api/v1/time-logs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json`;
  const create = (values = {}) =>
    fetch(`${service.url}/api/v1/time-logs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...LOG, ...values }),
    });

  it('bound the body', async () => {
    expect((await create({ description: 'a'.repeat(1_800) })).status).toBe(201);
    const answer = await create({ description: 'a'.repeat(2_000) });
    expect([answer.status, await answer.json()]).toEqual([
      413,
      { success: false, error: 'PAYLOAD_TOO_LARGE', message: 'the request body must be at most 2000 bytes' },
    ]);
  });

  it('bound the headers', async () => {
    const answer = await sendBytes(service, `${head}\r\nX: ${'a'.repeat(5_000)}\r\n\r\n`);
    expect(answer?.status).toBe(431);
  });

  it.each([
    ['the headers', head],
    ['the body', `${head}\r\nContent-Length: 9\r\n\r\n{`],
  ])('bound the time for %s', async (_what, bytes) => {
    // The client waits for as long as the service would without a setting.
    expect((await sendBytes(service, bytes))?.status).toBe(408);
  });

  it('end a connection whose request was answered before its body had come, without a second answer', async () => {
    const refused = 'POST /api/v1/time-logs HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{';
    expect(answersIn(await sendRaw(service.port, refused)).map(({ status }) => status)).toEqual([401]);
  });

  it('bound the wait for the database, its connections, and the creates that wait', async () => {
    const blocker = sql.createQueryRunner();
    await blocker.startTransaction();
    try {
      await blocker.query('lock table time_logs in access exclusive mode');
      const begun = performance.now();
      let atOnce = 0;
      const answers = await Promise.all(
        Array.from({ length: 10 }, async () => {
          const answer = await create();
          if (performance.now() - begun < 250) atOnce += 1;
          return answer;
        }),
      );
      // One is being written and three may wait.
      expect(atOnce).toBe(6);
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(503));
      expect(answers.map(({ headers }) => headers.get('retry-after'))).toEqual(Array(10).fill('1'));
      expect(performance.now() - begun).toBeLessThan(2_000);
      const connections = await sql.query<unknown[]>(
        `select 1 from pg_stat_activity where datname = current_database() and application_name = 'time-logs'`,
      );
      expect(connections.length).toBeLessThanOrEqual(2);
    } finally {
      await blocker.rollbackTransaction();
      await blocker.release();
    }
    expect((await create()).status).toBe(201);
  });
});
