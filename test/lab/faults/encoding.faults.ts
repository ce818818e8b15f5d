import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCommand } from '../../support/commands.js';
import { expectedLog } from '../../support/expected-logs.js';
import { useFolder, useTestDatabase } from '../../support/fixtures.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { create, LOG, outcome } from '../../support/requests.js';
import { spawnService, startService } from '../../support/service-process.js';
import { createTestDatabase } from '../../support/test-database.js';
import { TOKEN } from './support/service-under-writes.js';

describe('a database whose encoding is not UTF8', () => {
  const server = process.env.TEST_DATABASE_URL!;
  const inFolder = useFolder('time-logs-encoding-');
  const sound = useTestDatabase();
  const name = `test_latin1_${process.pid}`;
  const url = server.replace(/\/postgres(?=\?|$)/, `/${name}`);
  const refusal = `the encoding of the database is LATIN1, which cannot store every text: create a database with create database NAME encoding 'UTF8' template template0, and name it in DATABASE_URL\n`;

  beforeAll(() =>
    queryOnce(server, `create database ${name} encoding 'LATIN1' locale 'C' template template0`),
  );
  afterAll(() => queryOnce(server, `drop database ${name} with (force)`));

  it('is refused at the start, in one line that names the encoding and says what to do', async () => {
    const { child, output } = spawnService({ DATABASE_URL: url, PORT: '0', LOG_LEVEL: 'silent' });
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(output()).toBe(refusal);
  });

  it('is refused by every command, and left as it was', async () => {
    const file = inFolder('sound');
    await runCommand('backup', [file], { DATABASE_URL: sound.url });
    const commands: [string, ...string[]][] = [
      ['migrate'],
      ['token', 'create', '--name', 'Ada'],
      ['token', 'list'],
      ['counts', 'verify'],
      ['counts', 'rebuild'],
      ['backup', inFolder('file')],
    ];
    const refused = commands.map(([command, ...args]) => runCommand(command, args, { DATABASE_URL: url }));
    const outcome = { code: 1, stdout: '', stderr: refusal };
    expect(await Promise.all(refused)).toEqual(commands.map(() => outcome));
    const { code, stderr } = await runCommand('restore', [file], { DATABASE_URL: url });
    expect([code, stderr.endsWith(refusal)]).toEqual([1, true]);
    expect(await readdir(inFolder())).toEqual(['sound']);
    const relations = `select relname from pg_class where relnamespace = 'public'::regnamespace`;
    expect(await queryOnce(url, relations)).toEqual([]);
  });
});

/** Variables that the shell of a user of other databases may have. */
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
