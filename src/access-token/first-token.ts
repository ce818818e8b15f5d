import { open, readFile, rename, rm } from 'node:fs/promises';
import { Logger } from '@nestjs/common';
import type { AccessTokenService } from './access-token.service.js';
import { type AccessToken, digestOf, newToken } from './access-token.js';

const NAME = 'first';
const logger = new Logger('FirstToken');

/**
 * Creates the first token of a new database, in a file that only its owner can read. Returns
 * undefined if the file has no valid token. A first token that was revoked or deleted is not created
 * again. The file is written before the row: after a crash in between, the next start creates
 * another token.
 */
export async function ensureFirstToken(
  tokens: Pick<AccessTokenService, 'list' | 'store'>,
  file: string,
  scopes: readonly string[],
): Promise<'created' | 'kept' | undefined> {
  const known = await tokens.list();
  const kept = await readKept(file);
  if (kept !== undefined && known.some((token) => isValidFor(token, kept.trim()))) return 'kept';
  const first = known.filter(({ name }) => name === NAME);
  if (kept === undefined && first.some(isValid))
    logger.warn(
      `the first token in ${file} is missing, since backups do not contain it: copy the file there, or make a token with npm run --silent token -- create --name NAME`,
    );
  if (first.length > 0) return undefined;
  const token = newToken();
  await writePrivately(file, `${token}\n`);
  await tokens.store(token, { name: NAME, scopes });
  return 'created';
}

function isValidFor(known: AccessToken, token: string): boolean {
  return known.digest.equals(digestOf(token)) && isValid(known);
}

function isValid({ revokedAt, expiresAt }: AccessToken): boolean {
  return !revokedAt && !(expiresAt && expiresAt <= new Date());
}

/** Returns the text of the file: undefined if it does not exist, empty if it cannot be read. */
async function readKept(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const remedy = code === 'EACCES' ? `: sudo chown ${process.getuid?.()} '${file}' makes it yours` : '';
    logger.warn(`the first token in ${file} cannot be read (${code})${remedy}`);
    return '';
  }
}

async function writePrivately(file: string, text: string): Promise<void> {
  const temporaryFile = `${file}.new`;
  // Removes the file of an earlier crash, or a link through which root would write.
  await rm(temporaryFile, { force: true });
  const handle = await open(temporaryFile, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporaryFile, file);
}
