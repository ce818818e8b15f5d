import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { loadConfig } from '../../src/config.js';
import { eventually } from '../../src/time-log/contract/eventually.js';
import { aroundStatements } from '../support/around-statements.js';
import { newGate } from '../support/gate.js';
import { answersIn, sendRaw } from '../support/raw-http.js';
import { create as post, sendBytes } from '../support/requests.js';
import { type ServiceHere, startHere } from '../support/service-here.js';
import { startTestApp } from '../support/test-app.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';

const TOKEN = 'a-token-that-the-deployment-declares';
const LOG = { projectId: randomUUID(), duration: 1, description: '', date: '2026-01-31' };

describe('the limits that the environment sets', () => {
  let database: TestDatabase;
  let service: ServiceHere;
  let sql: DataSource;

  beforeAll(async () => {
    database = await createMigratedDatabase();
    sql = await new DataSource({ type: 'postgres', url: database.url }).initialize();
    // Again where a busy machine is too slow for the first connection.
    service = await eventually(() =>
      startHere({
        DATABASE_URL: database.url,
        ACCESS_TOKEN: TOKEN,
        HEADERS_TIMEOUT: '1',
        REQUEST_TIMEOUT: '1',
        KEEP_ALIVE_TIMEOUT: '1',
        HEADERS_LIMIT: '4096',
        BODY_LIMIT: '2000',
        DEADLINE: '0.2',
        POOL_SIZE: '2',
        WRITE_QUEUE: '3',
      }),
    );
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

  it('bound the wait for the database and its connections', async () => {
    const blocker = sql.createQueryRunner();
    await blocker.startTransaction();
    try {
      await blocker.query('lock table time_logs in access exclusive mode');
      // Again where a busy machine is slow: without the setting the service never takes less.
      await eventually(async () => {
        const begun = performance.now();
        const answers = await Promise.all(Array.from({ length: 10 }, () => create()));
        expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(503));
        expect(answers.map(({ headers }) => headers.get('retry-after'))).toEqual(Array(10).fill('1'));
        // Ten times the setting.
        expect(performance.now() - begun).toBeLessThan(2_000);
      });
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

it('WRITE_QUEUE bounds the creates that wait', async () => {
  const { limits } = loadConfig({ WRITE_QUEUE: '3' }, false);
  const app = await startTestApp({ limits: { ...limits, deadline: 60_000 } });
  try {
    const commit = newGate();
    const unwatch = aroundStatements(app.dataSource, async (text, run) => {
      if (text.includes('insert into')) await commit.opened;
      return run();
    });
    const statuses: number[] = [];
    const creates = Array.from({ length: 10 }, async () => statuses.push((await post(app)).status));
    // One is being written, and three may wait.
    await eventually(() => expect(statuses).toEqual(Array(6).fill(503)));
    commit.open();
    await Promise.all(creates);
    expect(statuses.slice(6)).toEqual(Array(4).fill(201));
    unwatch();
  } finally {
    await app.close();
  }
});
