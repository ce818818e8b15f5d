import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCommand } from '../../support/commands.js';
import { expectedLog } from '../../support/expected-logs.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

const TOKEN = 'a-token-that-the-deployment-declares';

/** What the shell of somebody who works with other databases may hold. */
const SHELL = {
  PGHOST: 'db.invalid',
  PGHOSTADDR: '192.0.2.1',
  PGPORT: '1',
  PGUSER: 'nobody',
  PGPASSWORD: 'wrong',
  PGPASSFILE: '/nowhere/pgpass',
  PGDATABASE: 'elsewhere',
  PGSERVICE: 'elsewhere',
  PGOPTIONS: '-c default_transaction_read_only=on -c search_path=elsewhere',
  PGAPPNAME: 'psql',
  PGCLIENTENCODING: 'LATIN1',
  PGCLIENT_ENCODING: 'LATIN1',
  PGREPLICATION: 'true',
  PGSSLMODE: 'verify-full',
  PGSSLNEGOTIATION: 'direct',
  PGSSLCERT: '/nowhere/cert',
  PGSSLKEY: '/nowhere/key',
  PGSSLROOTCERT: '/nowhere/root',
  PGTARGETSESSIONATTRS: 'standby',
  PGCONNECT_TIMEOUT: '0.001',
  PGTZ: 'Asia/Kathmandu',
  PGDATA: '/nowhere/data',
};

describe.each(['embedded', 'external'])('libpq’s variables in the shell, with an %s database', (kind) => {
  let directory: string;
  let database: TestDatabase;
  let env: Record<string, string>;
  let service: ServiceProcess | undefined;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'time-logs-shell-'));
    database = await createTestDatabase();
    env = { ...SHELL, ...(kind === 'embedded' ? { DATA_DIR: directory } : { DATABASE_URL: database.url }) };
  });
  afterAll(async () => {
    await service?.end();
    await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  it('change nothing of how the commands connect', async () => {
    const command = async (name: string, ...args: string[]) => (await runCommand(name, args, env)).stdout;
    const backup = join(directory, 'backup');
    expect(await command('migrate')).toMatch(/^migrated /);
    expect(await command('counts', 'verify')).toBe('the counts are right: 0 logs\n');
    expect(await command('backup', backup)).toMatch(/^saved /);
    expect(await command('restore', backup)).toMatch(/^restored /);
    expect(await command('token', 'create', '--name', 'Ada')).toMatch(/^tl_/m);
  });

  it('change nothing of how the service connects', async () => {
    service = await startService({ ...env, ACCESS_TOKEN: TOKEN });
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const log = { projectId: crypto.randomUUID(), duration: 1, description: 'Ž', date: '2026-01-31' };
    const created = await fetch(`${service.url}/api/v1/time-logs`, {
      method: 'POST',
      headers,
      body: JSON.stringify(log),
    });
    expect([created.status, await created.json()]).toEqual([201, { success: true, data: expectedLog(log) }]);
  });
});
