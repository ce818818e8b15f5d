import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { gunzipSync } from 'node:zlib';

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

/** The files of a package's tarball by their paths in the package, as ustar has them (POSIX.1-2017, pax). */
export async function unpacked(tarball: string): Promise<ReadonlyMap<string, string>> {
  const tar = gunzipSync(await readFile(tarball));
  const field = (from: number, length: number) =>
    tar.toString('latin1', from, from + length).split('\0', 1)[0]!;
  const files = new Map<string, string>();
  for (let at = 0; tar[at] !== 0;) {
    const path = posix.join(field(at + 345, 155), field(at, 100));
    const size = Number.parseInt(field(at + 124, 12), 8);
    files.set(posix.relative('package', path), tar.toString('utf8', at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

/** Writes the files of a package's tarball to a directory. */
export async function unpack(tarball: string, directory: string): Promise<void> {
  for (const [path, text] of await unpacked(tarball)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
}

export function manifestIn(files: ReadonlyMap<string, string>): Manifest {
  return JSON.parse(files.get('package.json') ?? '') as Manifest;
}
