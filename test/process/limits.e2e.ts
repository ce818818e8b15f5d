import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { withSql } from '../support/backup-rows.js';
import { loadConfig } from '../../src/process/config.js';
import { DECLARED_TOKEN } from '../support/environment.js';
import { useTestDatabase } from '../support/fixtures.js';
import { answersIn, sendRaw } from '../support/raw-http.js';
import { create, createAll, idOf, LOG, outcome, refusal } from '../support/requests.js';
import { type ServiceHere, startHere } from '../support/service-here.js';
import { startTestApp } from '../support/test-app.js';

describe('the limits of the service', () => {
  afterAll(() => service.end());
  const database = useTestDatabase();
  let service: ServiceHere & { readonly token: string };

  beforeAll(async () => {
    // Again where a busy machine is too slow for the first connection.
    const started = await eventually(() =>
      startHere(
        {
          DATABASE_URL: database.url,
          ACCESS_TOKEN: DECLARED_TOKEN,
          BATCH_LIMIT: '3000',
          POOL_SIZE: '2',
        },
        undefined,
        undefined,
        { headersTimeout: 1_000, requestTimeout: 1_000, deadline: 200 },
      ),
    );
    service = { ...started, token: DECLARED_TOKEN };
  });

  it('bound a batch', async () => {
    expect(outcome(await createAll(service, { timeLogs: Array(30).fill(LOG) }))).toEqual([
      413,
      refusal('PAYLOAD_TOO_LARGE', 'the request body must be at most 3000 bytes'),
    ]);
  });

  it('end a connection whose request was answered before its body had come, without a second answer', async () => {
    const refused = 'POST /api/v1/time-logs HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{';
    expect(answersIn(await sendRaw(service.port, refused)).map(({ status }) => status)).toEqual([401]);
  });

  it('bound the wait for the database and its connections', async () => {
    const timers = jest.spyOn(serviceGlobal, 'setTimeout');
    await withSql(database.url, async (sql) => {
      const blocker = sql.createQueryRunner();
      await blocker.query('begin; lock table time_logs in access exclusive mode');
      const answers = await Promise.all(Array.from({ length: 10 }, () => create(service)));
      expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(
        Array(10).fill([503, '1']),
      );
      expect(timers.mock.calls.map(([, milliseconds]) => milliseconds)).toContain(200);
      const connections = await sql.query<unknown[]>(
        `select 1 from pg_stat_activity where datname = current_database() and application_name = 'time-logs'`,
      );
      expect(connections.length).toBeLessThanOrEqual(2);
      await blocker.query('rollback');
      await blocker.release();
    });
    timers.mockRestore();
    await eventually(async () => expect((await create(service)).status).toBe(201));
  });
});

it('KEY_LIFETIME is the time for which a key protects', async () => {
  const { limits } = loadConfig({ KEY_LIFETIME: '48' }, false);
  const app = await startTestApp({ limits });
  try {
    const again = async (age: string) => {
      const headers = { 'Idempotency-Key': age };
      const first = await create(app, LOG, headers);
      await app.dataSource.query(
        'update time_log_keys set created_at = now() - $1::interval where text = $1::text',
        [age],
      );
      return idOf(await create(app, LOG, headers)) === idOf(first);
    };
    expect(await again('47:59')).toBe(true);
    expect(await again('48:01')).toBe(false);
  } finally {
    await app.close();
  }
});
