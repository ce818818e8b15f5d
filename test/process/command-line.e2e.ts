import { existsSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { runProgram } from '../support/commands.js';
import { type CommandName, runHere } from '../support/service-here.js';
import { useFolder } from '../support/fixtures.js';

/** Scripts of npm that are not commands of the service. */
const PROGRAMS: Record<string, string> = {
  'pack:lib': 'src/embedding/pack.mjs',
  start: 'dist/src/main.js',
};

describe('every command', () => {
  const inFolder = useFolder('time-logs-usage-');
  const type = (name: string, ...args: string[]) => {
    const [program, env] = [PROGRAMS[name], { DATA_DIR: inFolder('data'), HOST: '127.0.0.1', PORT: '0' }];
    return program ? runProgram(program, args, env) : runHere(name as CommandName, args, env);
  };
  const usageOf = (name: string) => `Usage:\n  npm (run )?(--silent )?${name}\\b`;
  /** No database is made. */
  const seesNothingDone = async (act: () => Promise<void>) => {
    await act();
    expect(existsSync(inFolder('data'))).toBe(false);
  };

  it.each([
    ...['backup', 'counts', 'drop', 'forget', 'migrate', 'restore', 'token'].flatMap((name) => [
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

  it('does so too as the program that npm runs: counts --help', async () => {
    const { code, stdout } = await runProgram('dist/src/commands/counts.command.js', ['--help'], {});
    expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`^${usageOf('counts')}`))]);
  });

  it.each([
    ...['backup', 'backup --all', 'backup a b', 'restore', 'restore --all', 'restore a b'],
    ...['counts', 'counts mend', 'counts verify b', 'drop 2020-01-01 --foo', 'migrate foo'],
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
