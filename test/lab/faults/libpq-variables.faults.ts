import { describe, expect, it } from '@jest/globals';
import { runCommand } from '../../support/commands.js';
import { expectedLog } from '../../support/expected-logs.js';
import { useFolder, useTestDatabase } from '../../support/fixtures.js';
import { create, LOG, outcome } from '../../support/requests.js';
import { startService } from '../../support/service-process.js';
import { createTestDatabase } from '../../support/test-database.js';
import { TOKEN } from './support/service-under-writes.js';

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
  const inFolder = useFolder('time-logs-shell-');
  const database = useTestDatabase(createTestDatabase);
  const env = () => ({
    ...SHELL,
    ...(kind === 'embedded' ? { DATA_DIR: inFolder() } : { DATABASE_URL: database.url }),
  });

  it('change nothing of how the commands connect', async () => {
    const command = async (name: string, ...args: string[]) => (await runCommand(name, args, env())).stdout;
    const backup = inFolder('backup');
    expect(await command('migrate')).toMatch(/^migrated /);
    expect(await command('counts', 'verify')).toBe('the counts are correct: 0 logs\n');
    expect(await command('backup', backup)).toMatch(/^saved /);
    expect(await command('restore', backup)).toMatch(/^restored /);
    expect(await command('token', 'create', '--name', 'Ada')).toMatch(/^tl_/m);
  });

  it('change nothing of how the service connects', async () => {
    const { port, end } = await startService({ ...env(), ACCESS_TOKEN: TOKEN });
    try {
      const log = { ...LOG, description: 'Ž' };
      const created = await create({ port, token: TOKEN }, log);
      expect(outcome(created)).toEqual([201, { success: true, data: expectedLog(log) }]);
    } finally {
      await end();
    }
  });
});
