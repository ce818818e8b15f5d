import { execFile, spawn } from 'node:child_process';
import { copyFile, cp, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { environment } from '../support/environment.js';
import { endProcess } from '../support/service-process.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';

const PROJECT = join(import.meta.dirname, '..', '..');
const TOKENS = { shell: 'a-token-that-the-shell-declares-01', file: 'a-token-that-the-file-declares-001' };

describe('a .env in the project', () => {
  /** A copy of the compiled project, for that of the tests is not ours to write to. */
  let project: string;
  let database: TestDatabase;
  const { PATH = '' } = environment({});

  beforeAll(async () => {
    project = await realpath(await mkdtemp(join(tmpdir(), 'time-logs-dot-env-')));
    await cp(join(PROJECT, 'dist', 'src'), join(project, 'dist', 'src'), { recursive: true });
    await cp(join(PROJECT, 'dist', 'libs'), join(project, 'dist', 'libs'), { recursive: true });
    await copyFile(join(PROJECT, 'package.json'), join(project, 'package.json'));
    await symlink(join(PROJECT, 'node_modules'), join(project, 'node_modules'));
    database = await createMigratedDatabase();
  });
  afterEach(() => rm(join(project, '.env'), { recursive: true, force: true }));
  afterAll(async () => {
    await database.drop();
    await rm(project, { recursive: true });
  });

  const writeDotEnv = (settings: Record<string, string>) =>
    writeFile(
      join(project, '.env'),
      Object.entries(settings)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    );
  const said = () => `settings that the environment leaves out are read from ${project}/.env`;
  const run = (program: string, env: Record<string, string>) =>
    new Promise((resolve) => {
      const file = join(project, 'dist', 'src', program);
      execFile(process.execPath, [file], { env: { PATH, ...env } }, (error, stdout, stderr) =>
        resolve([error ? error.code : 0, stdout, stderr]),
      );
    });
  const migrate = (env: Record<string, string> = {}) => run(join('commands', 'migrate.command.js'), env);
  /** Says what is wrong with the settings before it loads the service. */
  const start = () => run('main.js', {});

  it('says what the environment leaves out, and the log says so in one line', async () => {
    await writeDotEnv({ DATABASE_URL: database.url, ACCESS_TOKEN: TOKENS.file, PORT: '1' });
    const child = spawn(process.execPath, [join(project, 'dist', 'src', 'main.js')], {
      env: { PATH, HOST: '127.0.0.1', PORT: '0', ACCESS_TOKEN: TOKENS.shell },
    });
    try {
      let output = '';
      let port: string | undefined;
      for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
        output += String(chunk);
        port = /listening on port (\d+)/.exec(output)?.[1];
        if (port !== undefined) break;
      }
      child.stdout.resume();
      const statusWith = async (token: string) =>
        (await fetch(`http://127.0.0.1:${port}/health`, { headers: { authorization: `Bearer ${token}` } }))
          .status;
      expect([await statusWith(TOKENS.shell), await statusWith(TOKENS.file)]).toEqual([200, 401]);
      const lines = output.split('\n').filter((line) => line.includes('.env'));
      expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([said()]);
    } finally {
      await endProcess(child);
    }
  });

  it('is read by the commands, which say so beside what they print', async () => {
    await writeDotEnv({ DATABASE_URL: database.url });
    expect(await migrate()).toEqual([0, 'nothing to migrate\n', `${said()}\n`]);
  });

  it('does not speak where the environment says nothing on purpose', async () => {
    await writeDotEnv({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    const DATA_DIR = join(project, 'data');
    await expect(migrate({ DATABASE_URL: '', DATA_DIR })).resolves.toEqual([
      0,
      expect.stringContaining('migrated'),
      `${said()}\nmade a new database in ${DATA_DIR}, where there was none\n`,
    ]);
    expect(await readdir(DATA_DIR)).toContain('postgres');
  });

  it('is named where a setting is wrong', async () => {
    await writeDotEnv({ PORT: 'http' });
    expect(await start()).toEqual([
      1,
      '',
      `PORT: must be a whole number from 0 to 65535\nThe settings come from the environment and from ${project}/.env\n`,
    ]);
  });

  it('is refused where it cannot be read', async () => {
    await mkdir(join(project, '.env'));
    expect(await start()).toEqual([1, '', `${project}/.env: must be a file that can be read\n`]);
  });
});
