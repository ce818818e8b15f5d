import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { environment } from '../../support/environment.js';
import { endProcess, LISTENING, spawnProgram } from '../../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

const PROJECT = join(import.meta.dirname, '..', '..', '..');
const LIBS = [
  'auth',
  'batching',
  'errors',
  'http-edge',
  'measures',
  'open-api',
  'strict-request',
  'strict-url',
];
/** The commands of a package, apart from its folder in libs. */
const OF_PACKAGES = /src\/commands\/(backup|restore)\.command\.ts$/;
/** Files that specs need. */
const OF_SPECS = ['.swcrc', '.env.example', 'docker/SETTINGS.md', 'test/support'];
/** The specs of the core that need a package, such as the adapter for tests of hosts, or a database. */
const SPECS_WITH_PACKAGES = '(feed|totals|time-log)\\.service\\.spec|send-response\\.spec|backends\\.spec';
const NO_PACKAGES = `import type { AttributesPackage } from './service-module.js';
export const PACKAGES = [];
export const EMBEDDED_DATABASES = undefined;
export const ATTRIBUTES: AttributesPackage | undefined = undefined;
`;
const TOKEN = 'a-token-of-the-core-that-is-long-enough';
const LOG = { projectId: '0a000000-0000-4000-8000-000000000001', duration: 1.5, description: 'Work' };

const run = promisify(execFile);

/** The core without any package, in a folder of its own: compiled there, and started from there. */
describe('the core alone', () => {
  let folder: string;
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'time-logs-core-'));
    const isOfCore = (path: string) => !OF_PACKAGES.test(path);
    await cp(join(PROJECT, 'src'), join(folder, 'src'), { recursive: true, filter: isOfCore });
    for (const lib of LIBS)
      await cp(join(PROJECT, 'libs', lib), join(folder, 'libs', lib), { recursive: true });
    for (const file of ['package.json', 'tsconfig.json', 'tsconfig.build.json', ...OF_SPECS])
      await cp(join(PROJECT, file), join(folder, file), { recursive: true });
    await writeFile(join(folder, 'src', 'packages.ts'), NO_PACKAGES);
    await linkModules();
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
    await database.drop();
  });

  /** All modules but those of packages. */
  async function linkModules(): Promise<void> {
    const modules = join(PROJECT, 'node_modules');
    await mkdir(join(folder, 'node_modules'));
    for (const name of await readdir(modules))
      if (name !== '@time-logs') await symlink(join(modules, name), join(folder, 'node_modules', name));
  }

  it('compiles', async () => {
    const config = { extends: './tsconfig.json', include: ['src', 'libs'], exclude: ['**/*.spec.ts'] };
    await writeFile(join(folder, 'tsconfig.core.json'), JSON.stringify(config));
    const tsc = join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', 'tsconfig.core.json'], { cwd: folder }).catch(
      (error: unknown) => error as { stdout: string },
    );
    expect(stdout).toBe('');
    for (const name of ['api-docs', 'time-log/infrastructure/schema'])
      await cp(join(folder, 'src', name), join(folder, 'dist', 'src', name), {
        recursive: true,
        filter: (path) => !path.endsWith('.ts'),
      });
  });

  it('passes its specs', async () => {
    const config = {
      rootDir: folder,
      testTimeout: 600_000,
      roots: ['<rootDir>/src', '<rootDir>/libs'],
      testMatch: ['**/*.spec.ts'],
      testPathIgnorePatterns: ['/node_modules/', SPECS_WITH_PACKAGES],
      extensionsToTreatAsEsm: ['.ts'],
      transform: { '^.+\\.ts$': '@swc/jest' },
      moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
    };
    const jest = join(PROJECT, 'node_modules', 'jest', 'bin', 'jest.js');
    const args = ['--experimental-vm-modules', jest, '--config', JSON.stringify(config), '--json'];
    const { stdout } = await run(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 26 }).catch(
      (error: unknown) => error as { stdout: string },
    );
    const { testResults, numPassedTests } = JSON.parse(stdout) as {
      testResults: { status: string; message: string }[];
      numPassedTests: number;
    };
    expect(testResults.filter(({ status }) => status !== 'passed').map(({ message }) => message)).toEqual([]);
    expect(numPassedTests).toBeGreaterThan(100);
  });

  it('records, lists, sums and reports its health', async () => {
    const main = join(folder, 'dist', 'src', 'main.js');
    const env = { HOST: '127.0.0.1', PORT: '0', DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN };
    const { child, printed } = spawnProgram([process.execPath, main], environment(env));
    try {
      const [, port] = await printed(LISTENING);
      const send = async (path: string, body?: object) => {
        const response = await fetch(`http://127.0.0.1:${port}${path}`, {
          headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
          ...(body && { method: 'POST', body: JSON.stringify(body) }),
        });
        return { status: response.status, body: (await response.json()) as { data: object } };
      };
      const headers = { authorization: `Bearer ${TOKEN}` };
      expect((await fetch(`http://127.0.0.1:${port}/health`, { headers })).status).toBe(200);
      const created = await send('/api/v1/time-logs', { ...LOG, date: '2026-01-31' });
      expect(created).toMatchObject({ status: 201, body: { data: LOG } });
      expect(await send('/api/v1/time-logs')).toMatchObject({
        status: 200,
        body: { data: [{ duration: LOG.duration }], meta: { total: 1 } },
      });
      expect(await send('/api/v1/time-logs/totals')).toMatchObject({ status: 200 });
    } finally {
      await endProcess(child, 'SIGKILL');
    }
  });

  it('says that it has no database of its own', async () => {
    const failed = await run(process.execPath, ['dist/src/main.js'], {
      cwd: folder,
      env: environment({}),
    }).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('this build has no embedded database: set DATABASE_URL'),
    });
  });
});
