import { existsSync } from 'node:fs';
import { copyFile, cp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { run, runProgram } from '../support/commands.js';
import { type CommandName, linesOf, runHere } from '../support/service-here.js';
import { useFolder, useTestDatabase } from '../support/fixtures.js';
import { endProcess, LISTENING, spawnProgram } from '../support/service-process.js';

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

const PROJECT = join(import.meta.dirname, '..', '..');
const TOKENS = { shell: 'a-token-that-the-shell-declares-01', file: 'a-token-that-the-file-declares-001' };

describe('a .env in the project', () => {
  /** A copy of the compiled project, for that of the tests is not ours to write to. */
  const inProject = useFolder('time-logs-dot-env-');
  const database = useTestDatabase();
  const { PATH = '' } = process.env;

  beforeAll(async () => {
    for (const folder of ['src', 'libs'])
      await cp(join(PROJECT, 'dist', folder), inProject('dist', folder), { recursive: true });
    await copyFile(join(PROJECT, 'package.json'), inProject('package.json'));
    await symlink(join(PROJECT, 'node_modules'), inProject('node_modules'));
  });
  afterEach(() => rm(inProject('.env'), { recursive: true, force: true }));

  const writeDotEnv = (settings: Record<string, string>, encoding: BufferEncoding = 'utf8', mark = '') => {
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    return writeFile(inProject('.env'), mark + lines.join(''), encoding);
  };
  const said = () => `settings that the environment does not set are read from ${inProject('.env')}`;
  const migrate = (env: Record<string, string>) =>
    run([inProject('dist', 'src', 'commands', 'migrate.command.js')], { PATH, ...env });
  /** Says what is wrong with the settings before it loads the service. */
  const start = (env: Record<string, string>) => run([inProject('dist', 'src', 'main.js')], { PATH, ...env });
  const refused = (stderr: string) => ({ code: 1, stdout: '', stderr });

  it('says what the environment leaves out, and the log says so in one line', async () => {
    await writeDotEnv({ DATABASE_URL: database.url, ACCESS_TOKEN: TOKENS.file, PORT: '1' });
    const env = { PATH, HOST: '127.0.0.1', PORT: '0', ACCESS_TOKEN: TOKENS.shell };
    const { child, output, printed } = spawnProgram(
      [process.execPath, inProject('dist', 'src', 'main.js')],
      env,
    );
    const [, port] = await printed(LISTENING);
    const statusWith = async (token: string) =>
      (await fetch(`http://127.0.0.1:${port}/health`, { headers: { authorization: `Bearer ${token}` } }))
        .status;
    expect([await statusWith(TOKENS.shell), await statusWith(TOKENS.file)]).toEqual([200, 401]);
    const logged = linesOf(output()).filter(({ msg }) => msg.includes('.env'));
    expect(logged.map(({ msg }) => msg)).toEqual([said()]);
    await endProcess(child);
  });

  it('is read by the commands, which say so on standard error', async () => {
    await writeDotEnv({ DATABASE_URL: database.url });
    expect(await migrate({})).toEqual({ code: 0, stdout: 'nothing to migrate\n', stderr: `${said()}\n` });
  });

  it.each([
    ['', ''],
    [', also with a byte order mark', '\uFEFF'],
  ])('is named where a setting is wrong%s', async (_what, mark) => {
    await writeDotEnv({ PORT: 'http' }, 'utf8', mark);
    expect(await start({})).toEqual(
      refused(
        `PORT: must be a whole number from 0 to 65535\nThe settings come from the environment and from ${inProject('.env')}\n`,
      ),
    );
  });
});
