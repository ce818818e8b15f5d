import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnService, startService } from '../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const TOKEN = 'a-token-that-the-deployment-declares';

describe('the compiled service', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('lists every fault of its environment at once, without the values, and exits with 1', async () => {
    const { child, output } = spawnService({
      PORT: 'http',
      LOG_LEVEL: 'loud',
      DATABASE_URL: 'mysql://secret',
      ACCESS_TOKEN: 'short',
    });
    expect(await once(child, 'exit')).toEqual([1, null]);
    for (const name of ['PORT', 'LOG_LEVEL', 'DATABASE_URL', 'ACCESS_TOKEN'])
      expect(output()).toMatch(new RegExp(`^${name}: must be `, 'm'));
    expect(output()).not.toMatch(/secret|short/);
  });

  it('says in one line that its port is taken, and exits with 1', async () => {
    const first = await startService({ DATABASE_URL: database.url });
    const { child, output } = spawnService({
      DATABASE_URL: database.url,
      HOST: '127.0.0.1',
      PORT: String(first.port),
      LOG_LEVEL: 'silent',
      SHUTDOWN_DELAY: '60',
    });
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(output()).toMatch(/^listen EADDRINUSE: .*\n$/);
    await first.end();
  });

  it('logs refused requests as JSON with their request id, and never a token, a query or a body', async () => {
    const service = await startService({
      DATABASE_URL: database.url,
      ACCESS_TOKEN: TOKEN,
      NODE_ENV: 'production',
    });
    const secret = 'tl_0123456789012345678901234567890123456789012';
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${TOKEN}`,
      'x-request-id': 'refused-input',
    };
    await fetch(`${service.url}/health?access_token=${secret}`, {
      headers: { authorization: `Bearer ${secret}`, 'x-request-id': 'wrong-token' },
    });
    await fetch(`${service.url}/api/v1/time-logs`, {
      method: 'POST',
      headers,
      body: '{"description":"private words"}',
    });
    await service.end();
    const lines = service
      .output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.find(({ requestId }) => requestId === 'wrong-token')).toMatchObject({
      level: 'info',
      method: 'GET',
      path: '/health',
      status: 401,
      error: 'UNAUTHORIZED',
    });
    expect(lines.find(({ requestId }) => requestId === 'refused-input')).toMatchObject({
      level: 'info',
      method: 'POST',
      path: '/api/v1/time-logs',
      status: 400,
      error: 'VALIDATION_ERROR',
    });
    for (const word of [secret, TOKEN, 'private words', 'access_token'])
      expect(service.output()).not.toContain(word);
  });

  it.each(['UTC', 'America/New_York', 'Pacific/Apia', 'Asia/Kathmandu'])(
    'keeps days and instants as they are under TZ=%s',
    async (TZ) => {
      const service = await startService({ DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN, TZ });
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
      const projectId = crypto.randomUUID();
      // Days that a clock change, a skipped day (Apia, 2011-12-30) or local mean time could shift.
      const days = [
        '0001-01-01',
        '1900-01-01',
        '2011-12-30',
        '2024-02-29',
        '2026-03-08',
        '2026-11-01',
        '9999-12-31',
      ];
      for (const date of days) {
        const response = await fetch(`${service.url}/api/v1/time-logs`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ projectId, duration: 1, date, description: date }),
        });
        const { data } = (await response.json()) as { data: { date: string; createdAt: string } };
        expect([response.status, data.date]).toEqual([201, date]);
        expect(Math.abs(Date.now() - Date.parse(data.createdAt))).toBeLessThan(5_000);
        const listed = await fetch(
          `${service.url}/api/v1/time-logs?projectId=${projectId}&from=${date}T23:59:59%2B14:00&to=${date}T00:00-12:00`,
          { headers },
        );
        expect(
          ((await listed.json()) as { data: { description: string }[] }).data.map(
            ({ description }) => description,
          ),
        ).toEqual([date]);
      }
      const all = await fetch(`${service.url}/api/v1/time-logs?projectId=${projectId}`, { headers });
      expect(
        ((await all.json()) as { data: { description: string }[] }).data.map(
          ({ description }) => description,
        ),
      ).toEqual(days.toReversed());
      expect(await service.end()).toBe(0);
    },
  );
});
