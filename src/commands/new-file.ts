import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { codeOf } from '../database/setup/index.js';

/** The codes of a full disk, an exceeded quota, and a file that is too large. */
const DISK_FULL = /^(?:ENOSPC|EDQUOT|EFBIG)$/;

/**
 * Creates the file of a backup, which gets its name when it is complete. Throws an Error with a
 * message of one line if the file exists or cannot be written.
 */
export async function createFile<T>(file: string, write: (content: Writable) => Promise<T>): Promise<T> {
  const refuseExisting = () => {
    if (existsSync(file)) throw new Error(`${file} exists already: give the backup another name`);
  };
  refuseExisting();
  const part = `${file}.part`;
  const handle = await open(part, 'wx', 0o600).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw writeError(file, error);
    throw new Error(`${part} exists: another backup is running; if it was interrupted, remove the file`);
  });
  try {
    const result = await write(handle.createWriteStream({ flush: true }));
    // Somebody may have made it meanwhile.
    refuseExisting();
    await rename(part, file);
    return result;
  } catch (error) {
    await handle.close();
    await rm(part, { force: true });
    throw DISK_FULL.test(codeOf(error)) ? writeError(file, error) : error;
  }
}

function writeError(file: string, cause: unknown): Error {
  const code = codeOf(cause);
  const folder = dirname(file);
  let message = `${file} cannot be written (${code}): let this user write to ${folder}, or name a file in another folder`;
  if (code === 'ENOENT') message = `there is no folder ${folder}: make it, or name a file in another one`;
  if (DISK_FULL.test(code))
    message = `there is no room for ${file} (${code}), and nothing was saved: free space in ${folder}, or name a file on another disk`;
  return new Error(message, { cause });
}
