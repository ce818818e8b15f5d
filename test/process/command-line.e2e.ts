import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { runProgram } from '../support/commands.js';
import { type CommandName, runHere } from '../support/commands-here.js';
import { useFolder } from '../support/fixtures.js';

const DOCUMENT = join(import.meta.dirname, '..', '..', 'src', 'api-docs', 'openapi.json');
/** What npm runs for those that are no command of the service. */
const PROGRAMS: Record<string, string> = {
  'pack:lib': 'libs/host-package/pack.mjs',
  start: 'dist/src/main.js',
};

describe('every command', () => {
  const inFolder = useFolder('time-logs-usage-');
  const type = (name: string, ...args: string[]) => {
    const [program, env] = [PROGRAMS[name], { DATA_DIR: inFolder('data'), HOST: '127.0.0.1', PORT: '0' }];
    return program ? runProgram(program, args, env) : runHere(name as CommandName, args, env);
  };
  const usageOf = (name: string) => `Usage:\n  npm (run )?(--silent )?${name}\\b`;
  /** Neither a database is made nor the document written. */
  const seesNothingDone = async (act: () => Promise<void>) => {
    const { mtimeMs } = await stat(DOCUMENT);
    await act();
    expect([existsSync(inFolder('data')), (await stat(DOCUMENT)).mtimeMs]).toEqual([false, mtimeMs]);
  };

  it.each([
    ...['backup', 'counts', 'drop', 'forget', 'migrate', 'openapi', 'restore', 'token'].flatMap((name) => [
      `${name} --help`,
      `${name} a -h`,
    ]),
    'pack:lib --help',
    'start --help',
  ])('explains itself, and does nothing else: %s', async (line) => {
    const [name = '', ...args] = line.split(' ');
    await seesNothingDone(async () => {
      const { code, stdout, stderr } = await type(name, ...args);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(new RegExp(`^${usageOf(name)}`));
    });
  });

  it('does so too as the program that npm runs: openapi --help', async () => {
    const { code, stdout } = await runProgram('dist/src/commands/openapi.command.js', ['--help'], {});
    expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`^${usageOf('openapi')}`))]);
  });

  it.each([
    ...['backup', 'backup --all', 'backup a b', 'restore', 'restore --all', 'restore a b'],
    ...['counts', 'counts mend', 'counts verify b', 'drop 2020-01-01 --foo', 'migrate foo', 'openapi foo'],
    ...['pack:lib a b', 'pack:lib --foo', 'start foo', 'token list b'],
  ])('refuses what it does not know, and does nothing: %s', async (line) => {
    const [name = '', ...args] = line.split(' ');
    await seesNothingDone(async () => {
      const { code, stdout, stderr } = await type(name, ...args);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(new RegExp(`^.+\n\n${usageOf(name)}`));
    });
  });
});
