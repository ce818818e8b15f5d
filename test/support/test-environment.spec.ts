import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
const JEST = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
const HANGING = ['--testMatch', '**/hanging.fixture.ts', '--reporters', 'default', '--runInBand', '--json'];

describe('a test that hangs', () => {
  it('leaves no lock and no process behind, neither to the next test nor after the run', async () => {
    const printed = await new Promise<string>((resolve) => {
      const args = ['--experimental-vm-modules', JEST, ...HANGING];
      execFile(process.execPath, args, { cwd: ROOT }, (_error, stdout) => resolve(stdout));
    });
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
