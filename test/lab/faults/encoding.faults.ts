import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCommand } from '../../support/commands.js';
import { spawnService, startService } from '../../support/service-process.js';
import { createTestDatabase } from '../../support/test-database.js';
import { queryOnce } from '../../support/postgres-cluster.js';

const TOKEN = 'a-token-that-the-deployment-declares';

describe.each(['LATIN1', 'SQL_ASCII'])('a database whose encoding is %s', (encoding) => {
  const server = process.env.TEST_DATABASE_URL!;
  const name = `test_${encoding.toLowerCase()}_${process.pid}`;
  const url = server.replace(/\/postgres(?=\?|$)/, `/${name}`);
  const refusal = `the encoding of the database is ${encoding}, which cannot store every text: make one with create database NAME encoding 'UTF8' template template0, and name that one in DATABASE_URL\n`;

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
    const directory = await mkdtemp(join(tmpdir(), 'time-logs-encoding-'));
    const sound = await createTestDatabase();
    try {
      const file = join(directory, 'sound');
      await runCommand('migrate', [], { DATABASE_URL: sound.url });
      await runCommand('backup', [file], { DATABASE_URL: sound.url });
      const commands: [string, ...string[]][] = [
        ['migrate'],
        ['token', 'create', '--name', 'Ada'],
        ['token', 'list'],
        ['counts', 'verify'],
        ['counts', 'rebuild'],
        ['backup', join(directory, 'file')],
      ];
      const refused = commands.map(([command, ...args]) => runCommand(command, args, { DATABASE_URL: url }));
      expect(await Promise.all(refused)).toEqual(
        commands.map(() => ({ code: 1, stdout: '', stderr: refusal })),
      );
      const { code, stderr } = await runCommand('restore', [file], { DATABASE_URL: url });
      expect([code, stderr.endsWith(refusal)]).toEqual([1, true]);
      expect(await readdir(directory)).toEqual(['sound']);
    } finally {
      await sound.drop();
      await rm(directory, { recursive: true });
    }
    const relations = `select relname from pg_class where relnamespace = 'public'::regnamespace`;
    expect(await queryOnce(url, relations)).toEqual([]);
  });
});

describe('a database whose encoding is UTF8', () => {
  it('is spoken to in UTF8, whatever the shell, the URL and the database ask for', async () => {
    const database = await createTestDatabase();
    const name = new URL(database.url).pathname.slice(1);
    await queryOnce(process.env.TEST_DATABASE_URL!, `alter database ${name} set client_encoding = 'LATIN1'`);
    const service = await startService({
      DATABASE_URL: `${database.url}?client_encoding=LATIN1`,
      ACCESS_TOKEN: TOKEN,
      PGCLIENTENCODING: 'LATIN1',
      PGOPTIONS: '-c client_encoding=LATIN1',
    });
    try {
      const projectId = crypto.randomUUID();
      const log = { projectId, duration: 1, description: 'Grüße, 世界 😀', date: '2026-01-31' };
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
      const logs = `${service.url}/api/v1/time-logs`;
      const created = await fetch(logs, { method: 'POST', headers, body: JSON.stringify(log) });
      expect(await created.json()).toMatchObject({ success: true, data: log });
      const listed = (await (await fetch(logs, { headers })).json()) as { data: unknown };
      expect(listed.data).toMatchObject([{ description: log.description }]);
      const stored = await queryOnce(
        database.url,
        'select octet_length(description) as bytes from time_logs',
      );
      expect(stored).toEqual([{ bytes: Buffer.byteLength(log.description) }]);
    } finally {
      await service.end();
      await database.drop();
    }
  });
});
