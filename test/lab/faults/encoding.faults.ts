import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCommand } from '../../support/commands.js';
import { useFolder, useTestDatabase } from '../../support/fixtures.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { create, dataOf, list, LOG } from '../../support/requests.js';
import { spawnService } from '../../support/service-process.js';
import { serve } from './support/serve.js';
import { TOKEN } from './support/service-under-writes.js';

describe.each(['LATIN1', 'SQL_ASCII'])('a database whose encoding is %s', (encoding) => {
  const server = process.env.TEST_DATABASE_URL!;
  const inFolder = useFolder('time-logs-encoding-');
  const sound = useTestDatabase();
  const name = `test_${encoding.toLowerCase()}_${process.pid}`;
  const url = server.replace(/\/postgres(?=\?|$)/, `/${name}`);
  const refusal = `the encoding of the database is ${encoding}, which cannot store every text: create a database with create database NAME encoding 'UTF8' template template0, and name it in DATABASE_URL\n`;

  beforeAll(() =>
    queryOnce(server, `create database ${name} encoding '${encoding}' locale 'C' template template0`),
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

describe('a database whose encoding is UTF8', () => {
  const database = useTestDatabase();

  it('is spoken to in UTF8, whatever the shell, the URL and the database ask for', async () => {
    const server = process.env.TEST_DATABASE_URL!;
    await queryOnce(server, `alter database ${database.name} set client_encoding = 'LATIN1'`);
    const { port } = await serve(`${database.url}?client_encoding=LATIN1`, {
      PGCLIENTENCODING: 'LATIN1',
      PGOPTIONS: '-c client_encoding=LATIN1',
    });
    const log = { ...LOG, description: 'Grüße, 世界 😀' };
    expect(dataOf(await create({ port, token: TOKEN }, log))).toMatchObject(log);
    expect(dataOf(await list({ port, token: TOKEN }))).toMatchObject([{ description: log.description }]);
    const stored = 'select octet_length(description) as bytes from time_logs';
    const bytes = Buffer.byteLength(log.description);
    expect(await queryOnce(database.url, stored)).toEqual([{ bytes }]);
  });
});
