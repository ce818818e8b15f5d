import { randomUUID } from 'node:crypto';
import { lstat, readFile, rename, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from './folder.js';
import type { Environment } from './program.js';

/**
 * Creates the links of the shared libraries. The install script of the package does so, but npm
 * does not run it by default. If the package is read-only, the links are created in
 * `fallbackDirectory`. Returns the environment variables with which programs find them.
 */
export async function linkSharedLibraries(native: string, fallbackDirectory: string): Promise<Environment> {
  const missing = await missingLinks(native);
  try {
    for (const { target, link } of missing) await createLink(basename(target), link);
    return {};
  } catch {
    await makeFolder(fallbackDirectory);
    for (const { target, link } of missing) await createLink(target, join(fallbackDirectory, basename(link)));
    // A library finds the others next to its own link. Here they are elsewhere.
    return { LD_LIBRARY_PATH: `${fallbackDirectory}:${join(native, 'lib')}` };
  }
}

async function missingLinks(native: string): Promise<{ target: string; link: string }[]> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  // The paths in this file are relative to the package: they begin with "native/".
  const listed = JSON.parse(text) as { source: string; target: string }[];
  const links = listed.map(({ source, target }) => ({
    target: join(dirname(native), source),
    link: join(dirname(native), target),
  }));
  const present = await Promise.all(links.map(({ link }) => exists(link)));
  return links.filter((_, index) => !present[index]);
}

/** Creates a link, or replaces one of an earlier installation. */
async function createLink(target: string, link: string): Promise<void> {
  // A rename replaces the old link atomically: another start may be using it.
  const draft = `${link}.${randomUUID()}`;
  await symlink(target, draft);
  await rename(draft, link);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
