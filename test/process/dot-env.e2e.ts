import { copyFile, cp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { useFolder, useTestDatabase } from '../support/fixtures.js';
import { linesOf } from '../support/service-here.js';
import { endProcess, LISTENING, spawnProgram } from '../support/service-process.js';
import { run } from '../support/commands.js';

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
