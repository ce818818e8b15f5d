import { execFile } from 'node:child_process';
import { chown, copyFile, mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { environment } from '../support/environment.js';
import { useFolder } from '../support/fixtures.js';

const run = promisify(execFile);
const PROJECT = join(import.meta.dirname, '..', '..');

/** Stands for the compiler: copies the sources of src, and notes each call. */
const COMPILER = `
const { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync } = require('node:fs');
appendFileSync('compilations', 'one\\n');
mkdirSync('dist/src', { recursive: true });
for (const name of readdirSync('src').filter((name) => /^\\w+[.]ts$/.test(name)))
  cpSync('src/' + name, 'dist/src/' + name.replace('.ts', '.js'));
setTimeout(() => process.exit(0), existsSync('slow') ? 1000 : 0);
`;
const SCHEMA = 'src/time-log/infrastructure/schema';
/** Files that are copied as they are. */
const ASSETS = ['src/api-docs/openapi.json', `${SCHEMA}/tables.sql`];
const MAIN = `console.log(JSON.stringify(process.argv.slice(2)));`;

describe('what npm start compiles', () => {
  const file = useFolder('time-logs-built-');
  /** Returns the number of compilations that were just necessary. */
  const compilations = async () => {
    await rm(file('compilations'), { force: true });
    await run(process.execPath, ['libs/build/run.mjs'], { cwd: file() });
    const text = await readFile(file('compilations'), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '').length;
  };

  beforeAll(async () => {
    const folders = ['src/api-docs', SCHEMA, 'libs/build', 'libs/errors/src', 'node_modules/typescript/bin'];
    for (const folder of folders) await mkdir(file(folder), { recursive: true });
    for (const name of [
      'package.json',
      'package-lock.json',
      'libs/build/run.mjs',
      'tsconfig.json',
      'tsconfig.build.json',
    ])
      await copyFile(join(PROJECT, name), file(name));
    for (const name of ['src/other.ts', ...ASSETS, 'libs/errors/src/index.ts'])
      await writeFile(file(name), '1');
    await writeFile(file('src/main.ts'), MAIN);
    await writeFile(file('node_modules/typescript/bin/tsc'), COMPILER);
  });
  // No earlier change waits to be compiled.
  beforeEach(compilations);

  it('is a fresh clone, in two lines: the one of npm, and that it compiles', async () => {
    await rm(file('dist'), { recursive: true });
    const env = environment({ npm_config_loglevel: 'notice' });
    const { stdout, stderr } = await run('npm', ['start'], { cwd: file(), env });
    const lines = (text: string) => text.split('\n').filter((line) => !/^(npm warn .*)?$/.test(line));
    expect(lines(stdout)).toEqual(['> time-logs@0.4.0 start', expect.stringMatching(/^> exec node /), '[]']);
    expect(lines(stderr)).toEqual(['compiling, which takes some ten seconds']);
  });

  (process.getuid?.() === 0 && process.platform === 'linux' ? it : it.skip)(
    'belongs to the owner of the project where root compiles (skipped for others)',
    async () => {
      await chown(file(), 12345, 23456);
      await rm(file('dist'), { recursive: true });
      expect(await compilations()).toBe(1);
      for (const name of ['dist', 'dist/src/main.js', 'dist/.inputs'])
        expect(await stat(file(name))).toMatchObject({ uid: 12345, gid: 23456 });
      await chown(file(), 0, 0);
    },
  );

  it('is nothing where nothing has changed, whatever times a file got', async () => {
    expect(await compilations()).toBe(0);
    const now = new Date();
    await utimes(file('src/main.ts'), now, now);
    await writeFile(file('src/main.spec.ts'), 'a test');
    expect(await compilations()).toBe(0);
  });

  it.each(['src/main.ts', 'libs/errors/src/index.ts', 'package-lock.json'])(
    'is all of it after a change of %s, also where the file looks old',
    async (name) => {
      await writeFile(file(name), `${await readFile(file(name), 'utf8')} `);
      const { mtime } = await stat(file('dist'));
      await utimes(file(name), mtime, new Date(mtime.getTime() - 86_400_000));
      expect(await compilations()).toBe(1);
    },
  );

  it('is compiled once if two processes start at once, and both run it', async () => {
    await rm(file('compilations'), { force: true });
    await writeFile(file('slow'), '');
    await writeFile(file('src/main.ts'), `${MAIN}\n`);
    const start = () =>
      run(process.execPath, ['libs/build/run.mjs', 'dist/src/main.js', 'ran'], { cwd: file() });
    const outcomes = await Promise.all([start(), start()]);
    await rm(file('slow'));
    expect(outcomes.map(({ stdout }) => stdout)).toEqual(['["ran"]\n', '["ran"]\n']);
    expect(await readFile(file('compilations'), 'utf8')).toBe('one\n');
  });
});
