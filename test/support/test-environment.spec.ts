import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
const JEST = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
const REPORTERS = ['--reporters', 'default', '--reporters', '<rootDir>/test/support/long-test-reporter.mjs'];
const HANGING = ['--testMatch', '**/hanging.fixture.ts', ...REPORTERS, '--runInBand', '--json'];

describe('a test that hangs', () => {
  it('is named meanwhile, and leaves no lock and no process behind, neither to the next test nor after the run', async () => {
    const { printed, said } = await new Promise<{ printed: string; said: string }>((resolve) => {
      const args = ['--experimental-vm-modules', JEST, ...HANGING];
      const options = { cwd: ROOT, env: { ...process.env, LONG_TEST: '1000' } };
      execFile(process.execPath, args, options, (_error, printed, said) => resolve({ printed, said }));
    });
    expect(said).toMatch(/^runs since \d s: .*hanging[.]fixture[.]ts: hangs$/m);
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
