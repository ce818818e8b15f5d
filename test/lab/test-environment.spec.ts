import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from '@jest/globals';
import pg from 'pg';
import { eventually } from './eventually.js';

const ROOT = join(import.meta.dirname, '..', '..');

it('a run that is killed leaves no server and no file behind', async () => {
  const program = `
    import setUp from '${join(ROOT, 'test', 'support', 'global-setup.mjs')}';
    // Nobody copies a database.
    const nothing = () => undefined;
    await setUp({ maxWorkers: 1 }, { globals: { databasesInMemory: true } }, nothing);
    console.log(process.env.TMPDIR + ' ' + process.env.TEST_DATABASE_URLS);
    setInterval(() => undefined, 1000);`;
  const run = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: run.stdout }), 'line')) as [string];
  const [directory, connectionString] = line.split(' ') as [string, string];
  const answer = async () => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    await client.end();
  };
  await answer();
  run.kill('SIGKILL');
  await eventually(() => expect(existsSync(directory)).toBe(false));
  await expect(answer()).rejects.toThrow();
});
