import { lchown, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isOrdinary, type User } from './account.js';

/**
 * Makes a folder and those above it that are missing. Those that root makes belong to the ordinary user whose folder
 * they are made in. Throws the error of the system. (In /proc, `mkdir` with `recursive` never returns.)
 */
export async function makeFolder(path: string): Promise<User> {
  const found = await stat(path).catch(ifMissing);
  if (found) return found;
  const parent = await makeFolder(dirname(path));
  await mkdir(path).catch(ifThere);
  if (process.getuid?.() === 0 && isOrdinary(parent)) await lchown(path, parent.uid, parent.gid);
  return stat(path);
}

/** The ordinary user to whom the directory belongs, or its folder while there is no such directory. */
export async function ordinaryOwnerOf(directory: string): Promise<User | undefined> {
  const found = (await stat(directory).catch(ifMissing)) ?? (await stat(dirname(directory)));
  return isOrdinary(found) ? { uid: found.uid, gid: found.gid } : undefined;
}

/** For `catch`: takes the error of a file that is missing, and throws any other. */
export function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function ifThere(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EEXIST') throw error;
}
