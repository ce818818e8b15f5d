import { mkdir, mkdtemp, readFile, readdir, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { linkSharedLibraries } from './binaries.js';

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

describe('linkSharedLibraries', () => {
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

  it('creates them once if several processes do so at the same time', async () => {
    await installLibrary();
    const all = Array.from({ length: 8 }, () => linkSharedLibraries(native, fallback));
    expect(await Promise.all(all)).toEqual(Array(8).fill({}));
    expect(await linkSharedLibraries(native, fallback)).toEqual({});
    expect(await readdir(folder)).toEqual(['native']);
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

  it('updates the links next to the data if the package has moved', async () => {
    await linkSharedLibraries(native, fallback);
    await rename(native, join(folder, 'moved'));
    await mkdir(join(folder, 'next'));
    await rename(join(folder, 'moved'), join(folder, 'next', 'native'));
    await linkSharedLibraries(join(folder, 'next', 'native'), fallback);
    expect(await readlink(join(fallback, 'libpq.so'))).toBe(
      join(folder, 'next', 'native', 'lib', 'libpq.so.5.18'),
    );
  });
});
