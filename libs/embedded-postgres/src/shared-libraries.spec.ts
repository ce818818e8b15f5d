import { mkdir, mkdtemp, readFile, readdir, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { linkSharedLibraries } from './shared-libraries.js';

let place: string;
let native: string;
let fallback: string;

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'embedded-'));
  native = join(place, 'native');
  fallback = join(place, 'fallback');
  await mkdir(native);
  const links = ['native/lib/libpq.so.5', 'native/lib/libpq.so'];
  const list = links.map((target) => ({ source: 'native/lib/libpq.so.5.18', target }));
  await writeFile(join(native, 'pg-symlinks.json'), JSON.stringify(list));
});

afterEach(() => rm(place, { recursive: true }));

async function installLibrary(): Promise<void> {
  await mkdir(join(native, 'lib'));
  await writeFile(join(native, 'lib', 'libpq.so.5.18'), 'library');
}

describe('linkSharedLibraries', () => {
  it('makes the links that the install script did not make', async () => {
    await installLibrary();
    expect(await linkSharedLibraries(native, fallback)).toEqual({});
    expect((await readdir(join(native, 'lib'))).toSorted()).toEqual([
      'libpq.so',
      'libpq.so.5',
      'libpq.so.5.18',
    ]);
    expect(await readFile(join(native, 'lib', 'libpq.so'), 'utf8')).toBe('library');
  });

  it('makes them once, whoever else makes them at the same time', async () => {
    await installLibrary();
    const all = Array.from({ length: 8 }, () => linkSharedLibraries(native, fallback));
    expect(await Promise.all(all)).toEqual(Array(8).fill({}));
    expect(await linkSharedLibraries(native, fallback)).toEqual({});
    expect(await readdir(place)).toEqual(['native']);
  });

  it('makes them beside the data where the package cannot be written to', async () => {
    // Without the folder the link cannot be made there: this fails for root as well.
    expect(await linkSharedLibraries(native, fallback)).toEqual({
      LD_LIBRARY_PATH: `${fallback}:${join(native, 'lib')}`,
    });
    expect((await readdir(fallback)).toSorted()).toEqual(['libpq.so', 'libpq.so.5']);
    await installLibrary();
    expect(await readFile(join(fallback, 'libpq.so.5'), 'utf8')).toBe('library');
  });

  it('leads the links beside the data to a package that has moved', async () => {
    await linkSharedLibraries(native, fallback);
    await rename(native, join(place, 'moved'));
    await mkdir(join(place, 'next'));
    await rename(join(place, 'moved'), join(place, 'next', 'native'));
    await linkSharedLibraries(join(place, 'next', 'native'), fallback);
    expect(await readlink(join(fallback, 'libpq.so'))).toBe(
      join(place, 'next', 'native', 'lib', 'libpq.so.5.18'),
    );
  });
});
