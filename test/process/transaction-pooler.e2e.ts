import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { migrations } from '../../src/app.module.js';
import { migrate } from '../../src/database-setup/index.js';
import { endProcess } from '../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TransactionPooler } from '../support/transaction-pooler.js';

const MIGRATE = join(import.meta.dirname, '..', '..', 'dist', 'src', 'commands', 'migrate.command.js');
/** Milliseconds for a test: it is meant to take three seconds. */
const LIMIT = 60_000;
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
    LIMIT,
  );

  it(
    'go on after one that was killed, which leaves no lock',
    async () => {
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
    },
    LIMIT,
  );
});
