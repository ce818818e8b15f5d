import { execFile } from 'node:child_process';
import {
  chmod,
  chown,
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const run = promisify(execFile);
const PROJECT = join(import.meta.dirname, '..', '..');

/** Stands for the compiler: copies the sources, and counts how often it was called. */
const COMPILER = `#!/bin/sh
mkdir -p dist/src/api-docs && cp src/*.ts dist/src/ && echo compiled >> compilations
`;

describe('npm run built', () => {
  let directory: string;
  const file = (name: string) => join(directory, name);
  /** How often the compiler was called for what has just been done. */
  const compilations = async () => {
    await rm(file('compilations'), { force: true });
    await run('npm', ['run', 'built'], { cwd: directory });
    const text = await readFile(file('compilations'), 'utf8').catch(() => '');
    return text.split('\n').length - 1;
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'time-logs-built-'));
    for (const folder of ['src/api-docs', 'libs/errors/src', 'node_modules/.bin'])
      await mkdir(file(folder), { recursive: true });
    for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'])
      await copyFile(join(PROJECT, name), file(name));
    for (const name of [
      'src/main.ts',
      'src/other.ts',
      'src/api-docs/openapi.json',
      'libs/errors/src/index.ts',
    ])
      await writeFile(file(name), 'one');
    await writeFile(file('node_modules/.bin/tsc'), COMPILER);
    await chmod(file('node_modules/.bin/tsc'), 0o755);
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('compiles a fresh clone', async () => {
    expect(await compilations()).toBe(1);
  });

  (process.getuid?.() === 0 && process.platform === 'linux' ? it : it.skip)(
    'leaves what root compiles to the owner of the project (skipped for others)',
    async () => {
      await chown(directory, 12345, 23456);
      await rm(file('dist'), { recursive: true });
      expect(await compilations()).toBe(1);
      for (const name of ['dist', 'dist/src/main.ts', 'dist/.inputs'])
        expect(await stat(file(name))).toMatchObject({ uid: 12345, gid: 23456 });
      await chown(directory, 0, 0);
    },
  );

  it('compiles nothing when nothing has changed, whatever times a file got', async () => {
    expect(await compilations()).toBe(0);
    const now = new Date();
    await utimes(file('src/main.ts'), now, now);
    await writeFile(file('src/main.spec.ts'), 'a test');
    expect(await compilations()).toBe(0);
  });

  it.each(['src/main.ts', 'libs/errors/src/index.ts', 'tsconfig.json', 'package.json', 'package-lock.json'])(
    'compiles again after a change of %s, also where the file looks old',
    async (name) => {
      await writeFile(file(name), `${await readFile(file(name), 'utf8')} `);
      const { mtime } = await stat(file('dist'));
      await utimes(file(name), mtime, new Date(mtime.getTime() - 86_400_000));
      expect(await compilations()).toBe(1);
    },
  );

  it('leaves nothing of a source that was removed', async () => {
    await rm(file('src/other.ts'));
    expect(await compilations()).toBe(1);
    await expect(stat(file('dist/src/other.ts'))).rejects.toThrow('ENOENT');
  });

  it('compiles again after a build that failed', async () => {
    await writeFile(file('src/main.ts'), 'two');
    await chmod(file('node_modules/.bin/tsc'), 0o644);
    await expect(run('npm', ['run', 'built'], { cwd: directory })).rejects.toThrow();
    await chmod(file('node_modules/.bin/tsc'), 0o755);
    expect(await compilations()).toBe(1);
  });
});
