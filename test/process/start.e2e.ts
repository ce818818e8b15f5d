import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addRows, withSql } from '../support/backup-rows.js';
import { startHere } from '../support/service-here.js';
import { spawnService, startService } from '../support/service-process.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';

const TOKEN = 'a-token-that-the-deployment-declares';

/** A line of the log about what the service does at every start. */
const isRoutine = (line: string) =>
  line.startsWith('{"level":"info"') || line.includes('"context":"Durability"');

/** What main.ts prints in the end. All else is routine. */
async function faultOf(env: Record<string, string>): Promise<string> {
  const written = { log: '', said: '' };
  const fault = await startHere(env, written).then(
    ({ end }) => end().then(() => undefined),
    (error: unknown) => (error as Error).message,
  );
  const lines = (written.log + written.said).split('\n');
  expect(lines.filter((line) => line !== '' && !isRoutine(line))).toEqual([]);
  return fault ?? 'none';
}

describe('a start of the service', () => {
  let database: TestDatabase;
  let directory: string;
  /** Listens on a port that the service cannot have. */
  let other: Server;

  beforeAll(async () => {
    database = await createMigratedDatabase();
    directory = await mkdtemp(join(tmpdir(), 'time-logs-start-'));
    other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
  });
  afterAll(async () => {
    other.close();
    await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

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
    const { port } = other.address() as AddressInfo;
    const { child, output } = spawnService({
      DATA_DIR: directory,
      HOST: '127.0.0.1',
      PORT: String(port),
      SHUTDOWN_DELAY: '60',
    });
    expect(await once(child, 'exit')).toEqual([1, null]);
    const lines = output().trim().split('\n');
    expect(lines.filter((line) => !isRoutine(line))).toEqual([
      `port ${port} is taken: stop what listens there, or set PORT to another one`,
    ]);
  });

  it('says the same where the database is not its own', async () => {
    const { port } = other.address() as AddressInfo;
    expect(await faultOf({ DATABASE_URL: database.url, PORT: String(port), SHUTDOWN_DELAY: '60' })).toBe(
      `port ${port} is taken: stop what listens there, or set PORT to another one`,
    );
  });

  it('says in one line that HOST is no address of this machine', async () => {
    expect(await faultOf({ DATABASE_URL: database.url, HOST: '192.0.2.1' })).toBe(
      '192.0.2.1 is no address of this machine: set HOST to one, or leave it out',
    );
  });

  it.each(['/proc/x', '/dev/null/x'])('says in one line that %s cannot hold its data', async (DATA_DIR) => {
    expect(await faultOf({ DATA_DIR })).toMatch(
      new RegExp(
        `^the data directory ${DATA_DIR}/postgres cannot be used \\(.*\\): set DATA_DIR to a directory that the service may write to$`,
      ),
    );
  });

  it('says in one line what to do where a position leaves no room for new ones', async () => {
    const own = await createMigratedDatabase();
    try {
      await withSql(own.url, async (sql) => {
        await addRows(sql, 1, 1);
        await sql.query('update time_logs set position = 9223372036854775807');
      });
      expect(await faultOf({ DATABASE_URL: own.url })).toMatch(
        /^there is no room for new positions after 9223372036854775807: run update .*$/,
      );
    } finally {
      await own.drop();
    }
  });

  it('logs refused requests as JSON with their request id, and never a token, a query or a body', async () => {
    const service = await startHere({ DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN });
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
    const { log } = service.written;
    const lines = log
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
    for (const word of [secret, TOKEN, 'private words', 'access_token']) expect(log).not.toContain(word);
  });

  it.each(['America/New_York', 'Pacific/Apia', 'Asia/Kathmandu'])(
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
        const before = Date.now();
        const response = await fetch(`${service.url}/api/v1/time-logs`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ projectId, duration: 1, date, description: date }),
        });
        const { data } = (await response.json()) as { data: { date: string; createdAt: string } };
        expect([response.status, data.date]).toEqual([201, date]);
        expect(Date.parse(data.createdAt)).toBeGreaterThanOrEqual(before);
        expect(Date.parse(data.createdAt)).toBeLessThanOrEqual(Date.now());
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
