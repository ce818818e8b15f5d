import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { run } from './run.js';

/** The files with the types and the code of an entry. */
interface Entry {
  readonly types: string;
  readonly default: string;
}

/** The checked members of the manifest of the package. */
export interface Manifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, Readonly<Record<'import' | 'require', Entry>>>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** Writes the files of a package's tarball to a directory. Returns their paths in the package. */
export async function unpack(tarball: string, directory: string): Promise<string[]> {
  await mkdir(directory, { recursive: true });
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', directory]);
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => relative(directory, join(parentPath, name)));
}

/** Reads the manifest of a package that was unpacked to a directory. */
export async function manifestIn(directory: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')) as Manifest;
}
