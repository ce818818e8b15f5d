import { lchown, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isOrdinary, type User } from './account.js';

/**
 * Creates a folder and all missing ones above it. If root does so in the folder of an ordinary
 * user, that user owns them. Rejects with the system error. (`mkdir` with `recursive` never returns
 * in /proc.)
 */
export async function makeFolder(path: string): Promise<User> {
  const found = await stat(path).catch(ifMissing);
  if (found) return found;
  const parent = await makeFolder(dirname(path));
  await mkdir(path).catch(ifExists);
  if (process.getuid?.() === 0 && isOrdinary(parent)) await lchown(path, parent.uid, parent.gid);
  return stat(path);
}

/** Returns the ordinary user who owns the directory or, if it is missing, the folder above it. */
export async function ordinaryOwnerOf(directory: string): Promise<User | undefined> {
  const found = (await stat(directory).catch(ifMissing)) ?? (await stat(dirname(directory)));
  return isOrdinary(found) ? { uid: found.uid, gid: found.gid } : undefined;
}

/** Ignores the error of a missing file and throws any other. For `catch`. */
export function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function ifExists(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EEXIST') throw error;
}
