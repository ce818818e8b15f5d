import { lchown, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isOrdinary, type User } from './account.js';

/**
 * Makes a folder and all missing ones above it. Root gives them to the ordinary user in whose folder they lie. Throws
 * the error of the system. (`mkdir` with `recursive` never returns in /proc.)
 */
export async function makeFolder(path: string): Promise<User> {
  const found = await stat(path).catch(ifMissing);
  if (found) return found;
  const parent = await makeFolder(dirname(path));
  await mkdir(path).catch(ifThere);
  if (process.getuid?.() === 0 && isOrdinary(parent)) await lchown(path, parent.uid, parent.gid);
  return stat(path);
}

/** The ordinary user who owns the directory; while it does not exist, the one who owns the folder above it. */
export async function ordinaryOwnerOf(directory: string): Promise<User | undefined> {
  const found = (await stat(directory).catch(ifMissing)) ?? (await stat(dirname(directory)));
  return isOrdinary(found) ? { uid: found.uid, gid: found.gid } : undefined;
}

/** For `catch`: ignores the error of a missing file and throws any other. */
export function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function ifThere(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EEXIST') throw error;
}
