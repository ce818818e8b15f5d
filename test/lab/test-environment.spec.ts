import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { eventually } from './eventually.js';

const ROOT = join(import.meta.dirname, '..', '..');
const JEST = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
const REPORTERS = ['--reporters', 'default', '--reporters', '<rootDir>/test/support/long-test-reporter.mjs'];
const HANGING = ['--testMatch', '**/hanging.fixture.ts', ...REPORTERS, '--runInBand', '--json'];

describe('a test that hangs', () => {
  it('is named meanwhile, and leaves no lock and no process behind, neither to the next test nor after the run', async () => {
    const { printed, said } = await new Promise<{ printed: string; said: string }>((resolve) => {
      const args = ['--experimental-vm-modules', JEST, ...HANGING];
      const options = { cwd: ROOT, env: { ...process.env, LONG_TEST: '100' } };
      execFile(process.execPath, args, options, (_error, printed, said) => resolve({ printed, said }));
    });
    expect(said).toMatch(/^runs since \d+ s: .*hanging[.]fixture[.]ts: hangs$/m);
    const { testResults } = JSON.parse(printed) as {
      testResults: { assertionResults: { title: string; status: string }[] }[];
    };
    const outcomes = testResults.flatMap((file) => file.assertionResults);
    expect(outcomes.map(({ title, status }) => [title, status])).toEqual([
      ['hangs', 'failed'],
      ['finds no lock and no process of the one that hung', 'passed'],
    ]);
  });
});

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
