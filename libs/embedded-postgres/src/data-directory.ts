import {
  chmod,
  lchown,
  mkdtemp,
  open,
  readFile,
  readdir,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Account, User } from './account.js';
import type { Binaries } from './binaries.js';
import { EmbeddedPostgresError, reasonOf } from './embedded-postgres.error.js';
import { ifMissing, makeFolder } from './folder.js';
import { run, type Environment } from './program.js';

/** Creates the folder above the directory. Returns the real path, which identifies the server. */
export async function openDirectory(path: string): Promise<string> {
  const directory = resolve(path);
  try {
    await makeFolder(dirname(directory));
    const found = await stat(directory).catch(ifMissing);
    if (!found) return join(await realpath(dirname(directory)), basename(directory));
    const uid = process.getuid?.();
    if (uid !== 0 && uid !== found.uid)
      throw new EmbeddedPostgresError(
        `the data directory ${directory} belongs to another user (number ${found.uid}): start the service as that user, set DATA_DIR to another directory, or, if the data are yours, run sudo chown -R USER: ${directory}`,
      );
    return await realpath(directory);
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    throw new EmbeddedPostgresError(
      `the data directory ${directory} cannot be used (${reasonOf(error)}): set DATA_DIR to a directory that the service may write to`,
    );
  }
}

/** Creates the database files if there are none. Returns whether it did. */
export async function createData(
  directory: string,
  { binaries, environment, account }: { binaries: Binaries; environment: Environment; account: Account },
  signal?: AbortSignal,
): Promise<boolean> {
  if (await hasData(directory)) return false;
  await removeDrafts(directory);
  // The directory gets its name at the end, so that a crash leaves nothing that looks like data.
  const draft = await mkdtemp(`${directory}.new-${process.pid}-`);
  try {
    await giveTo(draft, account.owner('initdb'));
    const initdb = account.invoke(binaries.initdb, initdbArguments(draft), 'initdb');
    const { ok, reason } = await run(initdb, environment, signal);
    if (!ok) throw new Error(`initdb: ${reason.replaceAll(draft, directory)}`);
    await giveTo(draft, account.owner('postgres'));
    await rename(draft, directory);
    await syncDirectory(dirname(directory));
    return true;
  } catch (error) {
    // Another start has created the files first.
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

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
  if ((await stat(directory)).uid !== owner.uid) await changeOwner(directory, owner);
  await chmod(directory, 0o700);
}

async function changeOwner(path: string, owner: User): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true });
  for (const entry of entries) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) await changeOwner(child, owner);
    else await lchown(child, owner.uid, owner.gid);
  }
  // The directory is last: if its owner is right, so are those of all files, even after a crash.
  await lchown(path, owner.uid, owner.gid);
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

function initdbArguments(directory: string): string[] {
  return [
    `--pgdata=${directory}`,
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
}

/** Removes incomplete directories of starts that were killed. */
async function removeDrafts(directory: string): Promise<void> {
  const prefix = `${basename(directory)}.new-`;
  for (const name of await readdir(dirname(directory))) {
    if (!name.startsWith(prefix) || isAlive(Number(name.slice(prefix.length).split('-')[0]))) continue;
    // An initdb may still be writing.
    await rm(join(dirname(directory), name), { recursive: true, force: true, maxRetries: 10 });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path);
  await handle.sync().finally(() => handle.close());
}
