import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runProgram } from '../support/commands.js';
import { type CommandName, runHere } from '../support/commands-here.js';

const DOCUMENT = join(import.meta.dirname, '..', '..', 'src', 'api-docs', 'openapi.json');
const NAMES = [
  'backup',
  'counts',
  'drop',
  'forget',
  'migrate',
  'openapi',
  'pack:lib',
  'restore',
  'start',
  'token',
];
/** What npm runs for those that are no command of the service. */
const PROGRAMS: Record<string, string> = {
  'pack:lib': 'libs/host-package/pack.mjs',
  start: 'dist/src/main.js',
};

describe('every command', () => {
  let missing: string;
  const type = (name: string, ...args: string[]) => {
    const [program, env] = [PROGRAMS[name], { DATA_DIR: missing, HOST: '127.0.0.1', PORT: '0' }];
    return program ? runProgram(program, args, env) : runHere(name as CommandName, args, env);
  };
  const usageOf = (name: string) => `Usage:\n  npm (run )?(--silent )?${name}\\b`;
  /** Neither a database is made nor the document written. */
  const seesNothingDone = async (act: () => Promise<void>) => {
    const { mtimeMs } = await stat(DOCUMENT);
    await act();
    expect([existsSync(missing), (await stat(DOCUMENT)).mtimeMs]).toEqual([false, mtimeMs]);
  };

  beforeAll(async () => {
    missing = join(await mkdtemp(join(tmpdir(), 'time-logs-usage-')), 'data');
  });
  afterAll(() => rm(dirname(missing), { recursive: true }));

  it.each(NAMES)('explains itself, and does nothing else: %s --help', async (name) => {
    await seesNothingDone(async () => {
      for (const args of [['--help'], ['a', '-h']]) {
        const { code, stdout, stderr } = await type(name, ...args);
        expect([code, stderr]).toEqual([0, '']);
        expect(stdout).toMatch(new RegExp(`^${usageOf(name)}`));
      }
    });
  });

  it('does so too as the program that npm runs: openapi --help', async () => {
    const { code, stdout } = await runProgram('dist/src/commands/openapi.command.js', ['--help'], {});
    expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`^${usageOf('openapi')}`))]);
  });

  it.each([
    'backup a b',
    'counts verify b',
    'drop 2020-01-01 --foo',
    'migrate foo',
    'openapi foo',
    'pack:lib a b',
    'pack:lib --foo',
    'restore a b',
    'start foo',
    'token list b',
  ])('refuses what it does not know, and does nothing: %s', async (line) => {
    const [name = '', ...args] = line.split(' ');
    await seesNothingDone(async () => {
      const { code, stdout, stderr } = await type(name, ...args);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(new RegExp(`^.+\n\n${usageOf(name)}`));
    });
  });
});
