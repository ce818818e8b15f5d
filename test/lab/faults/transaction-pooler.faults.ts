import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { migrations } from '../../../src/app.module.js';
import { migrate } from '../../../src/database-setup/index.js';
import { endProcess, startService } from '../../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { TransactionPooler } from '../../support/transaction-pooler.js';

const MIGRATE = join(import.meta.dirname, '..', '..', '..', 'dist', 'src', 'commands', 'migrate.command.js');
const NAMES = migrations.map((Migration) => new Migration().name);

describe('migrations through a pooler in transaction mode', () => {
  let database: TestDatabase;
  let owner: DataSource;
  let pooler: TransactionPooler;

  beforeEach(async () => {
    database = await createTestDatabase();
    owner = await new DataSource({ type: 'postgres', url: database.url }).initialize();
  });
  afterEach(async () => {
    pooler.close();
    await owner.destroy();
    await database.drop();
  });

  const locks = () =>
    owner.query<unknown[]>(
      `select pid from pg_locks join pg_database on pg_database.oid = database
        where locktype = 'advisory' and datname = current_database()`,
    );

  it.each([1, 3])(
    'run once where several start at the same time over %d sessions, and leave no lock',
    async (size) => {
      pooler = await TransactionPooler.open(database.url, size);
      const runs = Array.from({ length: 3 }, () => migrate({ url: pooler.url, migrations }));
      expect((await Promise.all(runs)).flat().sort()).toEqual([...NAMES].sort());
      expect(await locks()).toEqual([]);
      expect(await migrate({ url: pooler.url, migrations })).toEqual([]);
    },
  );

  it('go on after one that was killed, which leaves no lock', async () => {
    pooler = await TransactionPooler.open(database.url, 2);
    const first = migrations.filter((Migration) => new Migration().name === 'CreateTimeLogs1763683200000');
    await migrate({ url: pooler.url, migrations: first });
    const holder = owner.createQueryRunner();
    await holder.startTransaction();
    await holder.query('lock table time_logs in access exclusive mode');
    const child = spawn(process.execPath, [MIGRATE], {
      env: { DATABASE_URL: pooler.url },
      stdio: 'ignore',
    });
    try {
      const waiting = `select 1 from pg_locks where not granted and relation = 'time_logs'::regclass`;
      while (((await holder.query(waiting)) as unknown[]).length === 0)
        await holder.query('select pg_sleep(0.01)');
      expect(await locks()).toHaveLength(1);
    } finally {
      await endProcess(child, 'SIGKILL');
    }
    await holder.rollbackTransaction();
    await holder.release();
    expect(await migrate({ url: pooler.url, migrations })).not.toEqual([]);
    expect((await owner.query<unknown[]>('select from migrations')).length).toBe(NAMES.length);
    expect(await locks()).toEqual([]);
  });
});

describe('the service behind a pooler in transaction mode', () => {
  const TOKEN = 'a-token-that-the-deployment-declares';
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  it('answers every request, and says once that statements are no longer prepared', async () => {
    const pooler = await TransactionPooler.open(database.url, 3);
    const env = { DATABASE_URL: pooler.url, MIGRATION_DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN };
    const services = [await startService(env), await startService(env)];
    try {
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ projectId: crypto.randomUUID(), duration: 1.5, date: '2026-01-31' });
      const statuses = await Promise.all(
        Array.from({ length: 60 }, async (_, number) => {
          const url = `${services[number % 2]!.url}/api/v1/time-logs`;
          const key = number % 3 === 0 ? { 'idempotency-key': `key ${number}` } : {};
          const created = await fetch(url, { method: 'POST', headers: { ...headers, ...key }, body });
          const listed = await fetch(url, { headers });
          return [created.status, listed.status];
        }),
      );
      expect(statuses).toEqual(statuses.map(() => [201, 200]));
      const listed = await fetch(`${services[0]!.url}/api/v1/time-logs?limit=1`, { headers });
      expect(await listed.json()).toMatchObject({ meta: { total: 60 } });
      const told = services.map(
        ({ output }) => output().split('statements are no longer prepared').length - 1,
      );
      expect(Math.max(...told)).toBe(1);
    } finally {
      for (const service of services) await service.end('SIGKILL');
      pooler.close();
    }
  });
});
