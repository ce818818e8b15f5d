import { chmod, lchown, mkdir, open, readFile, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Account, creatorFor, invoke, isOrdinary, type User } from './account.js';
import type { Binaries } from './binaries.js';
import { EmbeddedPostgresError, reasonOf, type Environment, run } from './program.js';
import { fitsSocket } from './socket.js';

/** Creates the folder above the directory. Returns the real path, which identifies the server. */
export async function openDirectory(path: string): Promise<string> {
  const directory = resolve(path);
  try {
    await makeFolder(dirname(directory));
    const found = await stat(directory).catch(ifMissing);
    const uid = process.getuid?.();
    if (found && uid !== 0 && uid !== found.uid)
      throw new EmbeddedPostgresError(
        `the data directory ${directory} belongs to another user (number ${found.uid}): start the service as that user, set DATA_DIR to another directory, or, if the data are yours, run sudo chown -R USER: ${directory}`,
      );
    const real = found
      ? await realpath(directory)
      : join(await realpath(dirname(directory)), basename(directory));
    if (fitsSocket(real)) return real;
    throw new EmbeddedPostgresError(
      `the path ${real} is too long for a socket: set DATA_DIR to a shorter one`,
    );
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    throw new EmbeddedPostgresError(
      `the data directory ${directory} cannot be used (${reasonOf(error)}): set DATA_DIR to a directory that the service may write to`,
    );
  }
}

/**
 * Creates a folder and all missing ones above it. If root does so in the folder of an ordinary user, that user owns
 * them. (`mkdir` with `recursive` never returns in /proc.)
 */
async function makeFolder(path: string): Promise<User> {
  const found = await stat(path).catch(ifMissing);
  if (found) return found;
  const parent = await makeFolder(dirname(path));
  await mkdir(path).catch(ifExists);
  if (process.getuid?.() === 0 && isOrdinary(parent)) await lchown(path, parent.uid, parent.gid);
  return stat(path);
}

/** Returns the owner of the directory or, if it is missing, of the folder above it. */
export async function ownerOf(directory: string): Promise<User> {
  return (await stat(directory).catch(ifMissing)) ?? (await stat(dirname(directory)));
}

/** Returns whether there are database files. Throws if there are other files. */
export async function hasData(directory: string): Promise<boolean> {
  const entries = (await readdir(directory).catch(ifMissing)) ?? [];
  if (entries.length === 0) return false;
  if (entries.includes('PG_VERSION')) return true;
  throw new EmbeddedPostgresError(
    `${directory} is neither empty nor the data of a PostgreSQL server: set DATA_DIR to another directory`,
  );
}

/** Creates the database files. The directory gets its name at the end, so that a crash leaves no half-made data. */
export async function createData(
  directory: string,
  { binaries, environment, account }: { binaries: Binaries; environment: Environment; account: Account },
  options = INITDB_OPTIONS,
): Promise<void> {
  const draft = `${directory}.new`;
  try {
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft);
    const creator = creatorFor(account);
    await giveTo(draft, creator.user);
    const initdb = invoke(creator, binaries.initdb, [`--pgdata=${draft}`, ...options]);
    const { ok, reason } = await run(initdb, environment);
    if (!ok) throw new Error(`initdb: ${reason.replaceAll(draft, directory)}`);
    await giveTo(draft, account.user);
    await rename(draft, directory);
    const folder = await open(dirname(directory));
    await folder.sync().finally(() => folder.close());
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

const INITDB_OPTIONS: readonly string[] = [
  '--username=postgres',
  // Only users who can enter the socket's directory may connect, and none over the network.
  '--auth-local=trust',
  '--auth-host=reject',
  '--encoding=UTF8',
  // Sort order and upper case are the same on every machine.
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--data-checksums',
  '--no-instructions',
];

/** Throws if another major version created the files: this server cannot read them. */
export async function checkVersion(directory: string, major: string): Promise<void> {
  const made = (await readFile(join(directory, 'PG_VERSION'), 'utf8')).trim();
  if (made === major) return;
  throw new EmbeddedPostgresError(
    `the files in ${directory} were made by PostgreSQL ${made}, and this is PostgreSQL ${major}: set DATA_DIR to another directory and restore a backup there, or set DATABASE_URL to a server of version ${made}`,
  );
}

/** Makes a user the owner of the files, and closes the directory to all others. */
export async function giveTo(directory: string, owner: User): Promise<void> {
  if ((await stat(directory)).uid !== owner.uid) {
    for (const name of await readdir(directory, { recursive: true }))
      await lchown(join(directory, name), owner.uid, owner.gid);
    // The directory is last: if its owner is right, so are those of all files, even after a crash.
    await lchown(directory, owner.uid, owner.gid);
  }
  await chmod(directory, 0o700);
}

/** Ignores the error of a missing file and throws any other. For `catch`. */
function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function ifExists(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EEXIST') throw error;
}
