import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TimeLogClient } from '@time-logs/client';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

const TOKEN = 'a-token-that-the-deployment-declares';

describe('a service that is killed and started again', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('has each log that a client recorded meanwhile once', async () => {
    const start = () => startService({ DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN });
    let service: ServiceProcess = await start();
    const baseUrl = 'http://service.example';
    const client = new TimeLogClient({
      baseUrl,
      token: TOKEN,
      // The name stays, as behind a balancer; the port is another one after each start.
      fetch: (url, init) => fetch(url.replace(baseUrl, service.url), init),
      // A start may be slow where much else runs.
      tries: 100,
      deadline: 60_000,
    });
    const projectId = randomUUID();
    const record = async () => (await client.record({ projectId, duration: 1, date: '2026-01-31' })).id;
    const recorded: string[] = [];
    try {
      for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
        const records = Array.from({ length: 200 }, record);
        const all = Promise.allSettled(records);
        await Promise.race(records);
        await service.end(signal);
        service = await start();
        await all;
        recorded.push(...(await Promise.all(records)));
      }
      const { data, meta } = await client.listPage({ projectId, limit: 1_000 });
      expect(meta.total).toBe(400);
      expect(data.map(({ id }) => id).toSorted()).toEqual(recorded.toSorted());
    } finally {
      await service.end();
    }
  });
});
